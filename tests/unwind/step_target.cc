// SPDX-License-Identifier: Apache-2.0
//
// Work for the single-step proof: frames of every kind that compilers make, the
// C library's and libstdc++'s code, lazily bound calls, exceptions, a signal.
// Built by several compilers with several options; runs for ever, under a
// tracer (it dies of its traps without one).
#include <unistd.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <sstream>
#include <string>

namespace {

volatile uint64_t sink;
std::jmp_buf way_back;

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

__attribute__((noinline)) int WithManyArguments(int a,
                                                int b,
                                                int c,
                                                int d,
                                                int e,
                                                int f,
                                                int g,
                                                long h,
                                                double i) {
  return a + b * c - d + e * f + g + static_cast<int>(h) + static_cast<int>(i);
}

__attribute__((noinline)) int EarlyReturns(int value) {
  if (value < 0) {
    return value;
  }
  std::string text(static_cast<size_t>(value) % 40, 'x');
  if (text.size() % 3 == 0) {
    return static_cast<int>(text.size());
  }
  return WithManyArguments(value, 2, 3, 4, 5, 6, 7, 8, 9.0) +
         EarlyReturns(value - 7);
}

__attribute__((noinline)) void JumpBack(int depth) {
  if (depth == 0) {
    std::longjmp(way_back, 1);
  }
  JumpBack(depth - 1);
  sink = sink + 1;
}

void OnSignal(int signal) {
  sink = sink + static_cast<uint64_t>(signal);
}

void Work(int round) {
  if (round % 4 == 0) {
    try {
      Throw(3);
    } catch (const std::string& text) {
      sink = sink + text.size();
    }
    std::raise(SIGUSR1);
    if (setjmp(way_back) == 0) {
      JumpBack(3);
    }
  }
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
  sink = sink + words.size() + call() +
         static_cast<uint64_t>(WithAlignedFrame(3) + EarlyReturns(30));
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  sink = sink + static_cast<uint64_t>(getppid());
  std::free(std::realloc(std::malloc(100), 5000));
  std::ostringstream stream;
  stream << round << ' ' << 2.5 << ' ' << words.begin()->first;
  sink = sink + stream.str().size();
}

}  // namespace

int main() {
  std::signal(SIGUSR1, &OnSignal);
  // Between the two the proof may leave the first, cold round out.
  __asm__ volatile("int3");
  Work(0);
  __asm__ volatile("int3");
  for (int round = 4;; ++round) {
    Work(round);
  }
}
