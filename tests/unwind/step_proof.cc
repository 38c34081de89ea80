// SPDX-License-Identifier: Apache-2.0
//
// Proof of the unwinder, instruction by instruction. A child runs real work
// (the C library's sort, formatted printing, exceptions, lazily bound calls,
// the vDSO) and is single-stepped. From the calls and returns that it executes
// a shadow stack is kept; at every instruction the walk must give that stack.
//
//   step_proof [STEPS]
//
// The shadow: an instruction that lowers the stack pointer by 8 and leaves the
// address behind itself there was a call; a return address whose slot the stack
// pointer has passed is gone (return, longjmp and exceptions alike).
// One stretch has no stack to find: before an exception lands, _Unwind_RaiseEx-
// ception and its kin overwrite the registers that their own frame saved with
// those of the landing place (uw_install_context in GCC's unwind-dw2.c). Walks
// that are right up to that frame and wrong behind it are counted apart.
// The shadow is never set from a walk again once stepping has begun, so there
// is no resync that could hide a mistake; the figure is printed all the same.
// Closing lines: what was stepped, compared, skipped and why, resyncs and
// mismatches. Exit code 0 without a mismatch.
#include <dlfcn.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "capture/call_site.h"
#include "tests/unwind/own_walk.h"

namespace {

using namespace cairn;

volatile uint64_t sink;

int CompareInts(const void* left, const void* right) {
  return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

__attribute__((noinline)) void Throw(int depth) {
  if (depth == 0) {
    throw std::string("thrown");
  }
  Throw(depth - 1);
  sink = sink + 1;
}

__attribute__((noinline)) uint64_t WithDynamicFrame(size_t bytes) {
  auto* room = static_cast<char*>(__builtin_alloca(bytes));
  std::memset(room, static_cast<int>(bytes), bytes);
  std::sort(room, room + bytes);
  return static_cast<uint64_t>(room[bytes / 2]);
}

__attribute__((noinline)) double WithAlignedFrame(int count) {
  alignas(64) volatile double values[16] = {};
  for (int i = 0; i < count; ++i) {
    values[i % 16] = values[(i + 3) % 16] + std::atof("3.5");
  }
  return values[0];
}

void Work(int round) {
  int numbers[12];
  for (int i = 0; i < 12; ++i) {
    numbers[i] = (i + round) * 7919 % 1009;
  }
  std::qsort(numbers, 12, sizeof(int), &CompareInts);
  std::map<std::string, int> words;
  for (int i = 0; i < 4; ++i) {
    char text[40];
    std::snprintf(text, sizeof(text), "%d %.3f %s", i, i / 3.0, "word");
    words[text] = i;
  }
  std::function<uint64_t()> call = [&] { return WithDynamicFrame(20); };
  sink =
      sink + words.size() + call() + static_cast<uint64_t>(WithAlignedFrame(3));
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  sink = sink + static_cast<uint64_t>(getppid());
  std::free(std::realloc(std::malloc(100), 5000));
  if (round % 4 == 0) {
    try {
      Throw(3);
    } catch (const std::string& text) {
      sink = sink + text.size();
    }
  }
}

[[noreturn]] void RunChild() {
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  raise(SIGSTOP);
  for (int round = 0;; ++round) {
    Work(round);
  }
}

pid_t child;

size_t ReadChild(void*, uint64_t address, void* out, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const uint64_t at = address + done;
    const size_t count = std::min<size_t>(bytes - done, 4096 - at % 4096);
    iovec local = {static_cast<uint8_t*>(out) + done, count};
    iovec remote = {reinterpret_cast<void*>(at), count};
    if (process_vm_readv(child, &local, 1, &remote, 1, 0) !=
        static_cast<ssize_t>(count)) {
      break;
    }
    done += count;
  }
  return done;
}
const safe::MemoryReader kChildMemory = {&ReadChild, nullptr};

struct Call {
  uint64_t slot;  // where the return address stands
  uint64_t return_address;
};

class Shadow {
 public:
  void Step(uint64_t pc, uint64_t sp, uint64_t new_pc, uint64_t new_sp) {
    while (!calls_.empty() && calls_.back().slot < new_sp) {
      calls_.pop_back();
    }
    uint64_t top = 0;
    if (new_sp == sp - 8 && kChildMemory.ReadValue(new_sp, &top) && top > pc &&
        top - pc <= 8 && new_pc != top &&
        capture::IsBehindCall(
            kChildMemory, format::Architecture::kX86_64, top)) {
      calls_.push_back({new_sp, top});
    }
  }
  // The whole stack at `pc`: calls seen, and below them what was there before.
  std::vector<uint64_t> Stack(uint64_t pc,
                              const std::vector<Call>& before) const {
    std::vector<uint64_t> stack = {pc};
    for (size_t i = calls_.size(); i > 0; --i) {
      stack.push_back(calls_[i - 1].return_address);
    }
    for (const Call& call : before) {
      stack.push_back(call.return_address);
    }
    return stack;
  }

 private:
  std::vector<Call> calls_;
};

class Proof {
 public:
  bool Run(uint64_t wanted) {
    user_regs_struct now = Registers();
    before_ = CallsBefore(now);
    for (; steps_ < wanted; ++steps_) {
      const user_regs_struct last = now;
      int status = 0;
      if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 ||
          waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        std::printf("the child is gone\n");
        return false;
      }
      now = Registers();
      shadow_.Step(last.rip, last.rsp, now.rip, now.rsp);
      while (!before_.empty() && before_.front().slot < now.rsp) {
        before_.erase(before_.begin());
      }
      Compare(now);
    }
    std::printf("stepped     %9lu instructions\n", steps_);
    std::printf("compared    %9lu stacks, %lu frames\n",
                steps_ - overwritten_,
                frames_);
    std::printf("skipped     %9lu: a frame that overwrites itself\n",
                overwritten_);
    std::printf("resyncs     %9d\n", 0);
    std::printf("mismatches  %9lu\n", mismatches_);
    return mismatches_ == 0;
  }

 private:
  static user_regs_struct Registers() {
    user_regs_struct registers = {};
    ptrace(PTRACE_GETREGS, child, nullptr, &registers);
    return registers;
  }

  std::vector<capture::Frame> Walk(const user_regs_struct& raw) {
    const uint64_t values[] = {raw.rax,
                               raw.rdx,
                               raw.rcx,
                               raw.rbx,
                               raw.rsi,
                               raw.rdi,
                               raw.rbp,
                               raw.rsp,
                               raw.r8,
                               raw.r9,
                               raw.r10,
                               raw.r11,
                               raw.r12,
                               raw.r13,
                               raw.r14,
                               raw.r15,
                               raw.rip};
    capture::Registers registers = {
        .architecture = format::Architecture::kX86_64,
        .valid = 0,
        .values = {}};
    for (int i = 0; i < 17; ++i) {
      registers.Set(i, values[i]);
    }
    capture::WalkInput input = images_.Input(registers);
    input.memory = kChildMemory;
    input.stack_memory = kChildMemory;
    input.first_is_fault = false;
    std::vector<capture::Frame> frames(512);
    capture::WalkOutput output = {};
    output.frames = frames.data();
    WalkStack(input, &output);
    frames.resize(output.count);
    complete_ = output.end == format::WalkEnd::kEndOfStack;
    return frames;
  }

  // The stack under the point where stepping begins cannot be seen in calls.
  std::vector<Call> CallsBefore(const user_regs_struct& registers) {
    std::vector<Call> calls;
    const auto frames = Walk(registers);
    for (size_t i = 1; i < frames.size(); ++i) {
      calls.push_back({frames[i].stack_pointer - 8, frames[i].address});
    }
    return calls;
  }

  void Compare(const user_regs_struct& registers) {
    const auto frames = Walk(registers);
    const auto expected = shadow_.Stack(registers.rip, before_);
    frames_ += frames.size();
    size_t right = 0;
    while (right < std::min(frames.size(), expected.size()) &&
           frames[right].address == expected[right]) {
      ++right;
    }
    if (right == frames.size() && right == expected.size() && complete_) {
      return;
    }
    if (right > 0 && OverwritesItself(expected[right - 1])) {
      ++overwritten_;
    } else if (++mismatches_ <= 10) {
      Print(frames, expected);
    }
  }

  // Whether the function at `address` installs a context over its own frame.
  static bool OverwritesItself(uint64_t address) {
    Dl_info info = {};
    dladdr(reinterpret_cast<void*>(address), &info);
    const std::string name = info.dli_sname == nullptr ? "" : info.dli_sname;
    return name == "_Unwind_RaiseException" || name == "_Unwind_Resume" ||
           name == "_Unwind_Resume_or_Rethrow";
  }

  static void Print(const std::vector<capture::Frame>& frames,
                    const std::vector<uint64_t>& expected) {
    std::printf("mismatch\n");
    for (size_t i = 0; i < std::max(frames.size(), expected.size()); ++i) {
      const uint64_t ours = i < frames.size() ? frames[i].address : 0;
      const uint64_t right = i < expected.size() ? expected[i] : 0;
      Dl_info info = {};
      dladdr(reinterpret_cast<void*>(right), &info);
      std::printf("  %016lx %016lx %s %lx %s\n",
                  ours,
                  right,
                  info.dli_fname == nullptr ? "" : info.dli_fname,
                  right - reinterpret_cast<uint64_t>(info.dli_fbase),
                  info.dli_sname == nullptr ? "" : info.dli_sname);
    }
  }

  unwind_tests::OwnImages images_{true};
  Shadow shadow_;
  std::vector<Call> before_;
  bool complete_ = false;
  uint64_t steps_ = 0;
  uint64_t frames_ = 0;
  uint64_t mismatches_ = 0;
  uint64_t overwritten_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  const uint64_t wanted =
      count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 200000;
  child = fork();
  if (child == 0) {
    RunChild();
  }
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL);
  const bool good = WIFSTOPPED(status) && Proof().Run(wanted);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return good ? 0 : 1;
}
