// SPDX-License-Identifier: Apache-2.0
//
// Compares stack walks with the compiler's own unwinder at many random points.
//
// A sampler interrupts busy threads with a signal; the handler walks from the
// interrupted registers with WalkStack and with _Unwind_Backtrace, and compares
// every address. Arguments: number of samples. Closing line:
//   walk_check: N samples, N frames, N mismatches
// Exit code 0 without a mismatch.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "capture/fake_memory.h"
#include "capture/unwinder.h"
#include "tests/unwind/own_walk.h"

namespace {

using cairn::capture::Frame;

constexpr size_t kMostFrames = 256;

struct Mismatch {
  uint64_t ours[24];
  uint64_t theirs[24];
  size_t our_count;
  size_t their_count;
};

cairn::unwind_tests::OwnImages* images;
std::atomic<uint64_t> samples;
std::atomic<uint64_t> frames;
std::atomic<uint64_t> mismatches;
std::atomic<uint64_t> incomplete;
Mismatch first_mismatches[8];
sem_t answered;
std::atomic<bool> stop;
volatile uint64_t sink;

struct Theirs {
  uint64_t wanted;  // recording begins at this address
  bool begun;
  size_t count;
  uint64_t address[kMostFrames];
};

_Unwind_Reason_Code Record(_Unwind_Context* context, void* argument) {
  auto* theirs = static_cast<Theirs*>(argument);
  int before = 0;
  const uint64_t address = _Unwind_GetIPInfo(context, &before);
  theirs->begun = theirs->begun || (before != 0 && address == theirs->wanted);
  if (theirs->begun && theirs->count < kMostFrames && address != 0) {
    theirs->address[theirs->count++] = address;
  }
  return _URC_NO_REASON;
}

void OnSignal(int, siginfo_t*, void* context) {
  const auto registers = cairn::unwind_tests::RegistersOf(
      *static_cast<const ucontext_t*>(context));
  Theirs theirs = {};
  theirs.wanted = ProgramCounter(registers);
  _Unwind_Backtrace(&Record, &theirs);
  Frame ours[kMostFrames];
  const auto output = images->Walk(registers, ours, kMostFrames);
  ++samples;
  frames += output.count;
  incomplete += output.end != cairn::format::WalkEnd::kEndOfStack;
  bool same = output.count == theirs.count;
  for (size_t i = 0; same && i < output.count; ++i) {
    same = ours[i].address == theirs.address[i];
  }
  if (!same) {
    const uint64_t index = mismatches++;
    if (index < 8) {
      Mismatch& mismatch = first_mismatches[index];
      mismatch.our_count = output.count;
      mismatch.their_count = theirs.count;
      for (size_t i = 0; i < 24; ++i) {
        mismatch.ours[i] = i < output.count ? ours[i].address : 0;
        mismatch.theirs[i] = i < theirs.count ? theirs.address[i] : 0;
      }
    }
  }
  sem_post(&answered);
}

int CompareInts(const void* left, const void* right) {
  return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

__attribute__((noinline)) uint64_t Recurse(int depth) {
  if (depth == 0) {
    return static_cast<uint64_t>(std::time(nullptr));
  }
  volatile char room[37];
  room[depth % 37] = static_cast<char>(depth);
  return Recurse(depth - 1) + static_cast<uint64_t>(room[depth % 37]);
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

void Work() {
  std::vector<int> numbers(400);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<int>(i * 7919 % 1009);
  }
  std::qsort(numbers.data(), numbers.size(), sizeof(int), &CompareInts);
  std::map<std::string, int> words;
  for (int i = 0; i < 60; ++i) {
    char text[40];
    std::snprintf(text, sizeof(text), "%d %.3f %s", i, i / 3.0, "word");
    words[text] = i;
  }
  std::function<uint64_t()> call = [&] { return Recurse(40); };
  sink = sink + words.size() + call() + WithDynamicFrame(300) +
         static_cast<uint64_t>(WithAlignedFrame(50));
  try {
    Throw(6);
  } catch (const std::string& text) {
    sink = sink + text.size();
  }
  timespec now;
  for (int i = 0; i < 100; ++i) {
    clock_gettime(CLOCK_MONOTONIC, &now);
  }
  std::free(std::realloc(std::malloc(100), 5000));
  sink = sink + static_cast<uint64_t>(getppid()) +
         reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "qsort"));
}

struct Worker {
  std::atomic<pid_t> id;
};

void* RunWorker(void* argument) {
  static_cast<Worker*>(argument)->id = static_cast<pid_t>(syscall(SYS_gettid));
  while (!stop) {
    Work();
  }
  return nullptr;
}

Worker workers[2];

void* RunSampler(void* argument) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const uint64_t wanted = *static_cast<uint64_t*>(argument);
  while (workers[0].id == 0 || workers[1].id == 0) {
    usleep(100);
  }
  for (uint64_t i = 0; i < wanted; ++i) {
    syscall(SYS_tgkill, getpid(), workers[i % 2].id.load(), SIGUSR1);
    sem_wait(&answered);
    usleep(static_cast<useconds_t>(i % 37));
  }
  stop = true;
  return nullptr;
}

void Print(const Mismatch& mismatch) {
  std::printf(
      "ours %zu, theirs %zu\n", mismatch.our_count, mismatch.their_count);
  for (size_t i = 0; i < 24; ++i) {
    Dl_info info = {};
    dladdr(reinterpret_cast<void*>(mismatch.theirs[i]), &info);
    std::printf("  %016lx %016lx %s\n",
                mismatch.ours[i],
                mismatch.theirs[i],
                info.dli_sname == nullptr ? "" : info.dli_sname);
  }
}

}  // namespace

int main(int count, char** arguments) {
  uint64_t wanted =
      count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 20000;
  images = new cairn::unwind_tests::OwnImages;
  struct sigaction action = {};
  action.sa_sigaction = &OnSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sem_init(&answered, 0, 0);
  // The first thread works too: its stack ends otherwise than a thread's.
  pthread_t thread;
  pthread_t sampler;
  pthread_create(&thread, nullptr, &RunWorker, &workers[1]);
  pthread_create(&sampler, nullptr, &RunSampler, &wanted);
  RunWorker(&workers[0]);
  pthread_join(sampler, nullptr);
  pthread_join(thread, nullptr);
  for (uint64_t i = 0; i < std::min<uint64_t>(mismatches, 8); ++i) {
    Print(first_mismatches[i]);
  }
  std::printf(
      "walk_check: %lu samples, %lu frames, %lu mismatches, "
      "%lu without an end\n",
      samples.load(),
      frames.load(),
      mismatches.load(),
      incomplete.load());
  return mismatches == 0 && incomplete == 0 ? 0 : 1;
}
