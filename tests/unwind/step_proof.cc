// SPDX-License-Identifier: Apache-2.0
//
// Proof of the unwinder, instruction by instruction: a program is single-
// stepped, a shadow stack is kept from its calls and returns (shadow_stack.h),
// and at every instruction the walk must give exactly that stack and end as
// complete.
//
//   step_proof [STEPS] [--steps N] [--from first|entry] [--warm]
//              [--exceptions FILE]
//              [--ask-every N] [--gdb N] [--program COMMAND ARGUMENT…]
//
// Without a program its own sample (step_target) runs. The program starts again
// from its beginning when it ends before the steps are done. --from entry
// leaves the dynamic loader's own start out. With --warm the way from the first
// int3 instruction to the second, which must be in the same frame, is run at
// full speed. --ask-every asks libunwind at each
// Nth instruction, --gdb asks gdb at the first N places of a mismatch,
// after each of which the program starts again.
// A mismatch at a place listed in the exceptions is counted apart. Exit code 0
// when there is no other.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/cfi_table.h"
#include "capture/context_linux.h"
#include "tests/unwind/shadow_stack.h"
#include "tests/unwind/step_exceptions.h"
#include "tests/unwind/step_oracles.h"
#include "tests/unwind/stepped_process.h"

namespace {

using namespace cairn;
using unwind_tests::ShadowStack;
using unwind_tests::Site;
using unwind_tests::Stepped;

constexpr size_t kMostFrames = 4096;
constexpr size_t kMostPrinted = 40;

struct Options {
  uint64_t steps = 200000;
  std::string from = "first";
  bool warm = false;
  std::string exceptions;
  uint64_t ask_every = 0;
  uint64_t gdb_places = 0;
  std::vector<std::string> program;
};

struct Figures {
  uint64_t stepped = 0;
  uint64_t compared = 0;
  uint64_t lost = 0;  // skipped: the stack pointer is on no known stack
  uint64_t frames = 0;
  uint64_t deepest = 0;
  uint64_t runs = 0;
  uint64_t resynchronisations = 0;
  uint64_t mismatches = 0;
  uint64_t listed = 0;  // of them
  uint64_t with_data = 0;
  uint64_t mismatches_with_data = 0;
  uint64_t asked = 0;
  uint64_t libunwind_wrong = 0;
};

// One place where walks went wrong.
struct Place {
  Site site;
  uint64_t count = 0;
  bool is_listed = false;
  std::string what;
};

class Proof {
 public:
  explicit Proof(const Options& options) : options_(options) {}

  bool Run() {
    if (!options_.exceptions.empty() &&
        !exceptions_.Load(options_.exceptions)) {
      return false;
    }
    while (figures_.stepped < options_.steps) {
      const uint64_t before = figures_.stepped;
      if (!RunOnce() || figures_.stepped == before) {
        std::printf("cannot step %s\n", options_.program[0].c_str());
        return false;
      }
    }
    Print();
    return figures_.mismatches == figures_.listed;
  }

 private:
  bool RunOnce();
  bool Advance();
  void Compare();
  void Mismatch(const std::vector<uint64_t>& expected,
                size_t right,
                bool has_data);
  std::string Verdict(const std::vector<uint64_t>& theirs,
                      const std::vector<uint64_t>& expected) const;
  bool HasData(uint64_t lookup);
  std::vector<uint64_t> Expected() const;
  void Print() const;

  const Options& options_;
  unwind_tests::Exceptions exceptions_;
  unwind_tests::SiteNames names_;
  std::unique_ptr<unwind_tests::SteppedProcess> process_;
  ShadowStack shadow_;
  std::vector<capture::Frame> frames_ =
      std::vector<capture::Frame>(kMostFrames);
  capture::WalkOutput output_ = {};
  std::unordered_map<uint64_t, bool> has_data_;
  std::unordered_map<std::string, Place> places_;
  uint64_t image_changes_ = 0;
  uint64_t gdb_asked_ = 0;
  bool abandoned_ =
      false;  // gdb has had the process: it runs no longer as we know
  Figures figures_;
};

bool Proof::RunOnce() {
  process_ = std::make_unique<unwind_tests::SteppedProcess>();
  shadow_ = ShadowStack();
  if (!process_->Start(options_.program, options_.from == "entry")) {
    return false;
  }
  ++figures_.runs;
  bool skip = options_.warm;
  abandoned_ = false;
  while (figures_.stepped < options_.steps) {
    const bool at_trap = skip && process_->AtTrap();
    if (!Advance()) {
      break;
    }
    if (at_trap) {
      skip = false;
      const uint64_t sp = process_->registers().rsp;
      if (!process_->RunToTrap() || process_->registers().rsp != sp) {
        return false;
      }
    }
    Compare();
    if (abandoned_) {
      break;
    }
  }
  figures_.resynchronisations += shadow_.resynchronisations();
  return true;
}

// One instruction, in the process and on the shadow stack.
bool Proof::Advance() {
  const ShadowStack::Place from = {process_->registers().rip,
                                   process_->registers().rsp};
  const Stepped stepped = process_->Step();
  if (stepped == Stepped::kGone) {
    return false;
  }
  ++figures_.stepped;
  const ShadowStack::Place to = {process_->registers().rip,
                                 process_->registers().rsp};
  uint64_t top = 0;
  if (ShadowStack::MayBeCall(from, to) || stepped == Stepped::kSignalHandler) {
    process_->ReadWord(to.sp, &top);
  }
  if (stepped == Stepped::kSignalHandler) {
    shadow_.BeginSignal(from, to, top);
  } else if (stepped == Stepped::kSystemCallMade) {
    shadow_.AfterSystemCall(to);
  } else {
    shadow_.Step(from, to, top);
  }
  return true;
}

// Whether unwind tables speak of that code.
bool Proof::HasData(uint64_t lookup) {
  if (image_changes_ != process_->image_changes()) {
    image_changes_ = process_->image_changes();
    has_data_.clear();
  }
  auto [known, is_new] = has_data_.try_emplace(lookup, false);
  const uint32_t index = process_->images().Find(lookup);
  if (is_new && index != capture::kNoImage) {
    const capture::Image& image = process_->images().at(index);
    capture::Registers none = {};
    uint32_t budget = 1 << 20;
    capture::CfiEntry entry;
    known->second = FindCfi(process_->Input(none).memory,
                            {image.eh_frame_hdr,
                             image.eh_frame_hdr_bytes,
                             image.eh_frame,
                             image.eh_frame_bytes},
                            lookup,
                            8,
                            &budget,
                            &entry) == capture::CfiLookup::kFound;
  }
  return known->second;
}

void Proof::Compare() {
  capture::Registers registers;
  RegistersFromUserRegs(&process_->registers(), &registers);
  capture::WalkInput input = process_->Input(registers);
  input.limits.inner_frames = kMostFrames;
  input.limits.outer_frames = 0;
  output_.frames = frames_.data();
  WalkStack(input, &output_);
  ++figures_.compared;
  figures_.frames += output_.count;

  const std::vector<uint64_t>& callers = shadow_.addresses();
  figures_.deepest = std::max<uint64_t>(figures_.deepest, callers.size() + 1);
  bool has_data = HasData(process_->registers().rip);
  for (size_t i = callers.size(); has_data && i > 0; --i) {
    has_data = HasData(callers[i - 1] - 1);
  }
  figures_.with_data += has_data;
  size_t right =
      output_.count > 0 && frames_[0].address == process_->registers().rip;
  while (right > 0 && right < output_.count && right <= callers.size() &&
         frames_[right].address == callers[callers.size() - right]) {
    ++right;
  }
  const bool is_right = right == callers.size() + 1 && right == output_.count &&
                        output_.end == format::WalkEnd::kEndOfStack;
  if (!is_right) {
    Mismatch(Expected(), right, has_data);
  }
  if (options_.ask_every != 0 && figures_.compared % options_.ask_every == 0) {
    ++figures_.asked;
    figures_.libunwind_wrong +=
        unwind_tests::LibunwindStack(process_->id(), kMostFrames) != Expected();
  }
}

std::vector<uint64_t> Proof::Expected() const {
  std::vector<uint64_t> stack = {process_->registers().rip};
  stack.insert(
      stack.end(), shadow_.addresses().rbegin(), shadow_.addresses().rend());
  return stack;
}

std::string Proof::Verdict(const std::vector<uint64_t>& theirs,
                           const std::vector<uint64_t>& expected) const {
  size_t right = 0;
  while (right < std::min(theirs.size(), expected.size()) &&
         theirs[right] == expected[right]) {
    ++right;
  }
  if (right == expected.size() && right == theirs.size()) {
    return "right";
  }
  return "wrong after " + std::to_string(right) + " of " +
         std::to_string(expected.size()) + " frames";
}

void Proof::Mismatch(const std::vector<uint64_t>& expected,
                     size_t right,
                     bool has_data) {
  ++figures_.mismatches;
  figures_.mismatches_with_data += has_data;
  const uint64_t address = expected[right == 0 ? 0 : right - 1];
  const Site& site =
      names_.Of(process_->images(), right > 1 ? address - 1 : address);
  char key[32];
  std::snprintf(key, sizeof(key), "+0x%lx", site.offset);
  Place& place = places_[site.module + " " + site.function + key];
  if (++place.count == 1) {
    place.site = site;
    // A frame whose saved registers are gone shows in its caller, too.
    place.is_listed =
        exceptions_.Has(site) ||
        (right > 1 && exceptions_.Has(names_.Of(
                          process_->images(),
                          right > 2 ? expected[right - 2] - 1 : expected[0])));
    place.what = "right: " + std::to_string(right) + " of " +
                 std::to_string(expected.size()) + ", ours " +
                 std::to_string(output_.count) + ", end " +
                 std::to_string(static_cast<int>(output_.end));
    if (options_.ask_every != 0) {
      place.what += "; libunwind: " + Verdict(unwind_tests::LibunwindStack(
                                                  process_->id(), kMostFrames),
                                              expected);
    }
    if (gdb_asked_ < options_.gdb_places) {
      ++gdb_asked_;
      abandoned_ = true;
      place.what +=
          "; gdb: " + Verdict(unwind_tests::GdbStack(process_->id()), expected);
    }
  }
  figures_.listed += place.is_listed;
}

void Proof::Print() const {
  std::vector<const Place*> sorted;
  for (const auto& [name, place] : places_) {
    sorted.push_back(&place);
  }
  std::sort(sorted.begin(), sorted.end(), [](const Place* a, const Place* b) {
    return std::pair(a->is_listed, b->count) <
           std::pair(b->is_listed, a->count);
  });
  for (size_t i = 0; i < std::min(sorted.size(), kMostPrinted); ++i) {
    const Place& place = *sorted[i];
    std::printf("%s %lu at %s %s+0x%lx: %s\n",
                place.is_listed ? "listed" : "MISMATCH",
                place.count,
                place.site.module.c_str(),
                place.site.function.c_str(),
                place.site.offset,
                place.what.c_str());
  }
  std::printf("stepped      %9lu instructions in %lu runs\n",
              figures_.stepped,
              figures_.runs);
  std::printf("compared     %9lu stacks, %lu frames, deepest %lu\n",
              figures_.compared,
              figures_.frames,
              figures_.deepest);
  std::printf("skipped      %9lu\n", figures_.stepped - figures_.compared);
  std::printf("resyncs      %9lu\n", figures_.resynchronisations);
  std::printf("mismatches   %9lu, of them listed %lu\n",
              figures_.mismatches,
              figures_.listed);
  std::printf("with data    %9lu, of them mismatches %lu\n",
              figures_.with_data,
              figures_.mismatches_with_data);
  if (figures_.asked > 0) {
    std::printf("libunwind    %9lu asked, of them mismatches %lu\n",
                figures_.asked,
                figures_.libunwind_wrong);
  }
}

// Beside this program.
std::string SampleProgram(const char* own_path) {
  const std::string path = own_path;
  return path.substr(0, path.rfind('/') + 1) + "step_target";
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  CLI::App app("Single-steps a program and compares each stack walk.");
  app.add_option("STEPS,--steps", options.steps, "instructions");
  app.add_option("--from", options.from)
      ->check(CLI::IsMember({"first", "entry"}));
  app.add_flag("--warm", options.warm);
  app.add_option("--exceptions", options.exceptions);
  app.add_option("--ask-every", options.ask_every);
  app.add_option("--gdb", options.gdb_places);
  // All that follows is the program's.
  int own = 0;
  while (own < count && std::string(arguments[own]) != "--program") {
    ++own;
  }
  for (int i = own + 1; i < count; ++i) {
    options.program.emplace_back(arguments[i]);
  }
  CLI11_PARSE(app, own, arguments);
  if (options.program.empty()) {
    options.program = {SampleProgram(arguments[0])};
  }
  return Proof(options).Run() ? 0 : 1;
}
