// SPDX-License-Identifier: Apache-2.0
//
// Time of a stack walk, per frame, warm and cold, beside the unwinders that a
// Linux program can link: libunwind (unw_step, unw_backtrace), the compiler's
// _Unwind_Backtrace, and glibc's backtrace. All walk the same stack in the same
// run, in turn. Cold: our rule cache is zeroed, libunwind's is flushed; the
// others have none that can be emptied.
//
//   unwind_speed [DEPTH [ROUNDS]]
//
// Prints the median of ROUNDS rounds, nanoseconds a frame. A walk that finds
// another number of frames than ours says so in its row. Exit code 1: ours is
// incomplete.
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <execinfo.h>
#include <libunwind.h>
#include <sys/auxv.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include "capture/context_linux.h"
#include "capture/image_table.h"
#include "capture/unwinder.h"
#include "safe/guarded_memory.h"

namespace {

using namespace cairn;

constexpr size_t kMostFrames = 1024;
constexpr int kWalksAtOnce = 20;

struct Ours {
  std::vector<capture::Image> storage = std::vector<capture::Image>(256);
  std::unique_ptr<capture::ImageTable> table =
      std::make_unique<capture::ImageTable>();
  std::unique_ptr<uint64_t[]> cache =
      std::make_unique<uint64_t[]>(capture::RuleCacheBytes() / 8 + 1);
  std::vector<capture::Frame> frames = std::vector<capture::Frame>(kMostFrames);
  format::WalkEnd end = format::WalkEnd::kNoRule;
};
Ours* ours;

void EmptyOurCache() {
  std::memset(ours->cache.get(), 0, capture::RuleCacheBytes());
}

__attribute__((noinline)) size_t WalkOurs() {
  capture::Registers registers;
  capture::RegistersHere(&registers);
  capture::WalkInput input = {};
  input.registers = &registers;
  input.memory = safe::GuardedReader();
  input.stack_memory = safe::GuardedReader();
  input.images = ours->table.get();
  input.cache = reinterpret_cast<capture::RuleCache*>(ours->cache.get());
  input.limits.inner_frames = kMostFrames;
  input.limits.outer_frames = 0;
  capture::WalkOutput output = {};
  output.frames = ours->frames.data();
  WalkStack(input, &output);
  ours->end = output.end;
  return output.count;
}

__attribute__((noinline)) size_t WalkUnwStep() {
  unw_context_t context;
  unw_getcontext(&context);
  unw_cursor_t cursor;
  unw_init_local(&cursor, &context);
  size_t count = 0;
  do {
    unw_word_t address = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &address);
    count += address != 0;
  } while (unw_step(&cursor) > 0);
  return count;
}

void FlushLibunwind() {
  unw_flush_cache(unw_local_addr_space, 0, 0);
}

void* addresses[kMostFrames];

__attribute__((noinline)) size_t WalkUnwBacktrace() {
  return static_cast<size_t>(unw_backtrace(addresses, kMostFrames));
}

_Unwind_Reason_Code CountFrame(_Unwind_Context* context, void* count) {
  *static_cast<size_t*>(count) += _Unwind_GetIP(context) != 0;
  return _URC_NO_REASON;
}

// libunwind exports functions of the same names: the compiler's and glibc's are
// looked up in their own libraries.
decltype(&_Unwind_Backtrace) compilers_backtrace;
decltype(&backtrace) glibc_backtrace;

void* LookUp(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

__attribute__((noinline)) size_t WalkCompilers() {
  size_t count = 0;
  compilers_backtrace(&CountFrame, &count);
  return count;
}

__attribute__((noinline)) size_t WalkGlibc() {
  return static_cast<size_t>(glibc_backtrace(addresses, kMostFrames));
}

void Nothing() {}

struct Subject {
  const char* name;
  size_t (*walk)();
  void (*empty)();  // null: nothing can be emptied, no cold figure
  size_t frames = 0;
  std::vector<double> warm, cold;  // ns a frame
};

Subject subjects[] = {
    {"cairn WalkStack", &WalkOurs, &EmptyOurCache, 0, {}, {}},
    {"libunwind unw_step", &WalkUnwStep, &FlushLibunwind, 0, {}, {}},
    {"libunwind unw_backtrace", &WalkUnwBacktrace, &FlushLibunwind, 0, {}, {}},
    {"_Unwind_Backtrace", &WalkCompilers, nullptr, 0, {}, {}},
    {"glibc backtrace", &WalkGlibc, nullptr, 0, {}, {}},
};

double NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 +
         static_cast<double>(now.tv_nsec);
}

double Time(const Subject& subject, void (*before_each)(), size_t* frames) {
  double total = 0;
  for (int i = 0; i < kWalksAtOnce; ++i) {
    before_each();
    const double start = NowNs();
    *frames = subject.walk();
    total += NowNs() - start;
  }
  return total / kWalksAtOnce /
         static_cast<double>(std::max<size_t>(1, *frames));
}

void Measure(int rounds) {
  const size_t count = std::size(subjects);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < count; ++i) {
      Subject& subject = subjects[(i + static_cast<size_t>(round)) % count];
      subject.walk();
      subject.warm.push_back(Time(subject, &Nothing, &subject.frames));
      if (subject.empty != nullptr) {
        subject.cold.push_back(Time(subject, subject.empty, &subject.frames));
      }
    }
  }
}

// Four functions that call each other through a pointer, with different frames.
volatile uint64_t sink;
using Descent = void (*)(int depth, int rounds);
extern Descent volatile steps[4];

void Descend(int depth, int rounds) {
  if (depth == 0) {
    Measure(rounds);
  } else {
    steps[depth % 4](depth - 1, rounds);
  }
}

__attribute__((noinline)) void Small(int depth, int rounds) {
  Descend(depth, rounds);
  sink = sink + 1;
}

__attribute__((noinline)) void ManyRegisters(int depth, int rounds) {
  uint64_t a = sink, b = a * 3, c = b ^ a, d = c + b, e = d * a;
  Descend(depth, rounds);
  sink = a + b + c + d + e + sink;
}

__attribute__((noinline)) void LargeFrame(int depth, int rounds) {
  volatile char room[600];
  room[depth % 600] = 1;
  Descend(depth, rounds);
  sink = sink + static_cast<uint64_t>(room[depth % 600]);
}

__attribute__((noinline)) void DynamicFrame(int depth, int rounds) {
  auto* room = static_cast<volatile char*>(
      __builtin_alloca(static_cast<size_t>(16 + depth)));
  room[depth] = 1;
  Descend(depth, rounds);
  sink = sink + static_cast<uint64_t>(room[depth]);
}

Descent volatile steps[4] = {&Small,
                             &ManyRegisters,
                             &LargeFrame,
                             &DynamicFrame};

double Median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

void Print(int rounds) {
  std::printf("%zu frames, medians of %d rounds, ns a frame, %u cores\n",
              subjects[0].frames,
              rounds,
              std::thread::hardware_concurrency());
  std::printf("%-24s %9s %9s %14s\n", "", "warm", "cold", "x cairn, warm");
  const double own = Median(subjects[0].warm);
  for (const Subject& subject : subjects) {
    const double warm = Median(subject.warm);
    std::printf("%-24s %9.1f ", subject.name, warm);
    if (subject.cold.empty()) {
      std::printf("%9s", "");
    } else {
      std::printf("%9.1f", Median(subject.cold));
    }
    std::printf(" %14.1f", warm / own);
    if (subject.frames != subjects[0].frames) {
      std::printf("  (%zu frames)", subject.frames);
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int depth = count > 1 ? std::atoi(arguments[1]) : 60;
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 101;
  compilers_backtrace = reinterpret_cast<decltype(&_Unwind_Backtrace)>(
      LookUp("libgcc_s.so.1", "_Unwind_Backtrace"));
  glibc_backtrace =
      reinterpret_cast<decltype(&backtrace)>(LookUp("libc.so.6", "backtrace"));
  if (compilers_backtrace == nullptr || glibc_backtrace == nullptr) {
    std::printf("no libgcc_s or libc\n");
    return 1;
  }
  ours = new Ours;
  ours->table->Init(ours->storage.data(), 256);
  const capture::ProcessVectors vectors = {getauxval(AT_PHDR),
                                           getauxval(AT_PHNUM),
                                           getauxval(AT_PHENT),
                                           getauxval(AT_BASE),
                                           getauxval(AT_SYSINFO_EHDR),
                                           "/proc/self/exe"};
  RefreshImages(ours->table.get(), vectors, safe::GuardedReader());
  Descend(depth, std::max(rounds, 1));
  Print(rounds);
  return ours->end == format::WalkEnd::kEndOfStack ? 0 : 1;
}
