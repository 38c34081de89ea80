// SPDX-License-Identifier: Apache-2.0
//
// A program that crashes in a chosen way and says before what its report must
// show. Built for macOS; run on a Mac, or wherever else its system is there.
//
//   crasher DIRECTORY KIND
//
// Prints lines `word value`: pid, thread (id), function (the innermost of
// ours), address (that will fault, where one will), signal. Ends by the crash;
// with status 0 for `capture` and `none`, 2 for wrong usage, 3 when install
// fails.
#include <mach/mach.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "cairn/cairn.h"

namespace {

#define NOINLINE __attribute__((noinline))

void Say(const char* word, uint64_t value) {
  std::printf("%s 0x%" PRIx64 "\n", word, value);
  std::fflush(stdout);
}
void Tell(const char* function, int signal, uint64_t address = 0) {
  uint64_t thread = 0;
  pthread_threadid_np(nullptr, &thread);
  std::printf("function %s\n", function);
  Say("thread", thread);
  Say("signal", static_cast<uint64_t>(signal));
  if (address != 0) {
    Say("address", address);
  }
}

NOINLINE void NullWrite() {
  Tell(__func__, SIGSEGV, 0x10);
  *reinterpret_cast<volatile int*>(0x10) = 1;
}

// Above 4 GiB, so that a lost upper half would show.
NOINLINE void HighWrite() {
  Tell(__func__, SIGSEGV, 0x7f0012345678);
  *reinterpret_cast<volatile int*>(0x7f0012345678) = 1;
}

NOINLINE void NullCall() {
  Tell(__func__, SIGSEGV);
  void (*volatile nothing)() = nullptr;
  nothing();
}

NOINLINE void BadInstruction() {
  Tell(__func__, SIGILL);
#if defined(__x86_64__)
  __asm__ volatile("ud2");
#else
  __asm__ volatile("udf #0");
#endif
}

NOINLINE void Breakpoint() {
  Tell(__func__, SIGTRAP);
#if defined(__x86_64__)
  __asm__ volatile("int3");
#else
  __asm__ volatile("brk #1");
#endif
}

// arm64 divides by zero without a word; there it is an instruction instead.
NOINLINE void Divide() {
#if defined(__x86_64__)
  Tell(__func__, SIGFPE);
  // In assembler: to the compiler a division by zero has no meaning at all.
  asm volatile("xor %%ecx, %%ecx\n\tcltd\n\tidivl %%ecx" ::
                   : "rax", "rcx", "rdx");
#else
  BadInstruction();
#endif
}

NOINLINE void NonCanonical() {
  Tell(__func__, SIGSEGV);
  *reinterpret_cast<volatile int*>(0x6b6b6b6b6b6b6b6b) = 1;
}

NOINLINE void WriteToCode() {
  const auto address = reinterpret_cast<uint64_t>(&WriteToCode);
  Tell(__func__, SIGBUS, address);
  *reinterpret_cast<volatile int*>(address) = 1;
}

NOINLINE void Abort() {
  Tell(__func__, SIGABRT);
  std::abort();
}

NOINLINE void Raise() {
  Tell(__func__, SIGSEGV);
  raise(SIGSEGV);
}

NOINLINE void Kill() {
  Tell(__func__, SIGBUS);
  kill(getpid(), SIGBUS);
}

NOINLINE void Throw() {
  Tell(__func__, SIGABRT);
  throw std::out_of_range("the reason of the crasher");
}

NOINLINE int Recurse(volatile int* below) {
  volatile int here[64];
  here[0] = *below;
  return here[0] < 0 ? 0 : Recurse(here) + here[0];
}
NOINLINE void Overflow() {
  Tell(__func__, SIGSEGV);
  volatile int start = 0;
  Recurse(&start);
}

void* InThread(void* kind) {
  pthread_setname_np("crashing thread");
  reinterpret_cast<void (*)()>(kind)();
  return nullptr;
}
void RunInThread(void (*kind)()) {
  pthread_t thread;
  pthread_create(&thread, nullptr, &InThread, reinterpret_cast<void*>(kind));
  pthread_join(thread, nullptr);
}
NOINLINE void ThreadOverflow() {
  RunInThread(&Overflow);
}
NOINLINE void ThreadWrite() {
  RunInThread(&NullWrite);
}

// Both at the same moment: one report, and the process still dies.
void TwoAtOnce() {
  pthread_t threads[2];
  for (pthread_t& thread : threads) {
    pthread_create(
        &thread, nullptr, &InThread, reinterpret_cast<void*>(&NullWrite));
  }
  for (pthread_t& thread : threads) {
    pthread_join(thread, nullptr);
  }
}

void* Wait(void* name) {
  pthread_setname_np(static_cast<const char*>(name));
  for (;;) {
    pause();
  }
}
void StartWaiters(int count) {
  static char names[64][32];
  for (int i = 0; i < count; ++i) {
    std::snprintf(names[i], sizeof(names[i]), "waiter %d", i);
    pthread_t thread;
    pthread_create(&thread, nullptr, &Wait, names[i]);
  }
}
void ManyThreads() {
  StartWaiters(64);
  NullWrite();
}

// The earlier handler of a signal is called behind ours.
void OnEarlier(int signal, siginfo_t* /*info*/, void* /*context*/) {
  static const char kText[] = "earlier handler\n";
  write(STDOUT_FILENO, kText, sizeof(kText) - 1);
  _exit(40 + signal);
}
void EarlierHandler() {
  Abort();
}

void Capture() {
  StartWaiters(4);
  Tell(__func__, 0);
  Say("status", static_cast<uint64_t>(cairn_capture("capture", "asked for")));
}
void None() {}

struct Kind {
  const char* name;
  void (*run)();
};
constexpr Kind kKinds[] = {{"null_write", &NullWrite},
                           {"high_write", &HighWrite},
                           {"null_call", &NullCall},
                           {"bad_instruction", &BadInstruction},
                           {"breakpoint", &Breakpoint},
                           {"divide", &Divide},
                           {"non_canonical", &NonCanonical},
                           {"write_to_code", &WriteToCode},
                           {"abort", &Abort},
                           {"raise", &Raise},
                           {"kill", &Kill},
                           {"throw", &Throw},
                           {"overflow", &Overflow},
                           {"thread_overflow", &ThreadOverflow},
                           {"thread_write", &ThreadWrite},
                           {"two_at_once", &TwoAtOnce},
                           {"many_threads", &ManyThreads},
                           {"earlier_handler", &EarlierHandler},
                           {"capture", &Capture},
                           {"none", &None}};

const Kind* FindKind(const char* name) {
  for (const Kind& kind : kKinds) {
    if (std::strcmp(kind.name, name) == 0) {
      return &kind;
    }
  }
  return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
  const Kind* kind = count == 3 ? FindKind(arguments[2]) : nullptr;
  if (kind == nullptr) {
    std::fprintf(stderr, "usage: crasher DIRECTORY KIND\n");
    for (const Kind& known : kKinds) {
      std::fprintf(stderr, "  %s\n", known.name);
    }
    return 2;
  }
  if (kind->run == &EarlierHandler) {
    struct sigaction action = {};
    action.sa_sigaction = &OnEarlier;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGABRT, &action, nullptr);
  }
  cairn_config config;
  cairn_config_init(&config);
  config.directory = arguments[1];
  config.app_id = "org.cairn.crasher";
  config.app_version = "1.0";
  config.no_next_launch = 1;
  const cairn_status status = cairn_install(&config);
  if (status != CAIRN_OK) {
    std::fprintf(stderr, "crasher: %s\n", cairn_status_text(status));
    return 3;
  }
  cairn_set_key("kind", kind->name);
  Say("pid", static_cast<uint64_t>(getpid()));
  kind->run();
  return 0;
}
