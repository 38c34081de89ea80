// SPDX-License-Identifier: Apache-2.0
//
// Crashes in a process that is in trouble otherwise: threads, stacks, locks,
// handlers, descriptors, forked children.
#pragma GCC diagnostic ignored "-Winfinite-recursion"

#include <asm/prctl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "tests/crash/crash_list.h"
#include "tests/crash/crasher.h"

using cairn::crash::ForbidAllocation;
using cairn::crash::Hide;
using cairn::crash::ParkThread;
using cairn::crash::RunInOlderThread;
using cairn::crash::RunInThread;
using cairn::crash::Tell;
using cairn::crash::TellAddress;
using cairn::crash::TellSelf;
using cairn::crash::TellThread;

#define STAY asm volatile("")

extern "C" {

void* __libc_malloc(size_t);
void __libc_free(void*);

__attribute__((noinline)) void in_thread_body() {
  TellAddress("fault_address", 0x18);
  TellSelf();
  (void)*Hide(reinterpret_cast<volatile int*>(0x18));
  STAY;
}

__attribute__((noinline)) void crash_in_thread() {
  RunInThread(in_thread_body, "dying");
  STAY;
}

__attribute__((noinline)) void crash_in_older_thread() {
  RunInOlderThread(in_thread_body);
  STAY;
}

__attribute__((noinline)) void crash_many_threads() {
  for (int i = 0; i < 100; ++i) {
    ParkThread("worker-" + std::to_string(i), 64 << 10);
  }
  in_thread_body();
  STAY;
}

// Each call keeps 200 bytes, so the guard page cannot be jumped over.
__attribute__((noinline)) int use_up_the_stack(int depth) {
  volatile char block[200];
  block[0] = static_cast<char>(depth);
  const int below = use_up_the_stack(depth + 1);
  return below + block[0];
}

__attribute__((noinline)) void overflow_body() {
  TellThread();
  ForbidAllocation();
  use_up_the_stack(0);
  STAY;
}

__attribute__((noinline)) void crash_stack_overflow() {
  overflow_body();
  STAY;
}

__attribute__((noinline)) void crash_thread_overflow() {
  RunInThread(overflow_body, "deep");
  STAY;
}

__attribute__((noinline)) void crash_older_thread_overflow() {
  RunInOlderThread(overflow_body);
  STAY;
}

__attribute__((noinline)) int go_deep(int depth) {
  if (depth == 0) {
    (void)*Hide(reinterpret_cast<volatile int*>(0x20));
  }
  const int below = go_deep(depth - 1);
  asm volatile("");
  return below + 1;
}

__attribute__((noinline)) void crash_deep_recursion() {
  TellAddress("fault_address", 0x20);
  TellThread();
  ForbidAllocation();
  go_deep(50000);
  STAY;
}

constexpr unsigned kMostTogether = 128;
static pthread_barrier_t g_barrier;
static unsigned g_together = 0;
// Per thread of the crowd, once it is past the barrier; nothing but its fault
// can make it sleep from then on.
static std::atomic<pid_t> g_past_barrier[kMostTogether];

static void* crash_together(void* number) {
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  Tell("one_of", std::to_string(self));
  pthread_barrier_wait(&g_barrier);
  g_past_barrier[reinterpret_cast<uintptr_t>(number)] = self;
  ForbidAllocation();
  (void)*Hide(reinterpret_cast<volatile int*>(0x28));
  return nullptr;
}

static void crash_several(unsigned count) {
  pthread_barrier_init(&g_barrier, nullptr, count);
  g_together = count;
  pthread_t thread;
  for (uintptr_t i = 0; i < count; ++i) {
    if (pthread_create(
            &thread, nullptr, crash_together, reinterpret_cast<void*>(i)) !=
        0) {
      _exit(97);
    }
  }
  pthread_join(thread, nullptr);
}

__attribute__((noinline)) void crash_two_at_once() {
  crash_several(2);
  STAY;
}

__attribute__((noinline)) void crash_twenty_at_once() {
  crash_several(20);
  STAY;
}

__attribute__((noinline)) void crash_hundred_at_once() {
  crash_several(100);
  STAY;
}

static void on_user_signal(int) {
  TellAddress("fault_address", 0x30);
  TellSelf();
  (void)*Hide(reinterpret_cast<volatile int*>(0x30));
  STAY;
}

__attribute__((noinline)) void crash_in_signal_handler() {
  struct sigaction action = {};
  action.sa_handler = on_user_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  STAY;
}

__attribute__((noinline)) void crash_in_forked_child() {
  const pid_t child = fork();
  if (child == 0) {
    Tell("child", std::to_string(getpid()));
    in_thread_body();
  }
  int status = 0;
  waitpid(child, &status, 0);
  Tell("child_status", std::to_string(status));
  STAY;
}

static void* g_page;

static void mend(int, siginfo_t* info, void*) {
  Tell("mended",
       info->si_addr == static_cast<char*>(g_page) + 5 ? "here" : "elsewhere");
  mprotect(g_page, 4096, PROT_READ | PROT_WRITE);
}

static void last_words(int signal, siginfo_t*, void*) {
  char text[32];
  const int bytes =
      snprintf(text, sizeof(text), "earlier_handler %d\n", signal);
  if (write(1, text, static_cast<size_t>(bytes)) < 0) {
    _exit(98);
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

__attribute__((noinline)) void crash_earlier_handler_mends() {
  g_page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  TellAddress("fault_address", reinterpret_cast<uint64_t>(g_page) + 5);
  TellThread();
  *Hide(static_cast<volatile char*>(g_page) + 5) = 1;
  Tell("went_on", "1");
}

__attribute__((noinline)) void crash_earlier_handler_dies() {
  TellAddress("fault_address", 0x38);
  TellThread();
  (void)*Hide(reinterpret_cast<volatile int*>(0x38));
  STAY;
}

// The raised signal is blocked while its handler runs, and kills behind it.
__attribute__((noinline)) void crash_earlier_handler_raises_blocked() {
  TellSelf();
  abort();
}

static void reset_only(int signal, siginfo_t*, void*) {
  ::signal(signal, SIG_DFL);
}

__attribute__((noinline)) void crash_earlier_handler_leaves_it() {
  in_thread_body();
  STAY;
}

static void swallow(int) {
  _exit(95);
}

// The app takes SIGSEGV away from us; a guarded read inside our handler must
// not end up there.
__attribute__((noinline)) void crash_handler_replaced() {
  ::signal(SIGSEGV, swallow);
  ::signal(SIGBUS, swallow);
  TellSelf();
  abort();
}

// The allocator itself faults, its arena locked: the list of free blocks is
// destroyed, and glibc reads through the bad link (malloc/malloc.c,
// _int_malloc, unsorted list).
__attribute__((noinline)) void crash_holding_malloc_lock() {
  TellAddress("fault_address", 0x18);
  TellThread();
  auto** block = static_cast<void**>(__libc_malloc(2000));
  void* volatile keeps_them_apart = __libc_malloc(2000);
  __libc_free(block);
  Hide(block)[1] = reinterpret_cast<void*>(0x8);
  void* volatile never = __libc_malloc(3000);
  (void)keeps_them_apart;
  (void)never;
}

static int in_phdr_callback(dl_phdr_info*, size_t, void*) {
  TellThread();
  ForbidAllocation();
  (void)*Hide(reinterpret_cast<volatile int*>(0x40));
  return 0;
}

__attribute__((noinline)) void crash_holding_loader_lock() {
  TellAddress("fault_address", 0x40);
  dl_iterate_phdr(in_phdr_callback, nullptr);
  STAY;
}

__attribute__((noinline)) void crash_no_descriptors() {
  while (dup(0) >= 0) {
  }
  in_thread_body();
  STAY;
}

__attribute__((noinline)) void crash_all_descriptors_closed() {
  TellAddress("fault_address", 0x18);
  TellSelf();
  syscall(SYS_close_range, 0, ~0u, 0);
  (void)*Hide(reinterpret_cast<volatile int*>(0x18));
  STAY;
}

__attribute__((noinline)) void crash_not_dumpable() {
  prctl(PR_SET_DUMPABLE, 0);
  in_thread_body();
  STAY;
}

__attribute__((noinline)) void crash_heap_destroyed() {
  TellAddress("fault_address", 0x18);
  TellSelf();
  char* block = Hide(static_cast<char*>(sbrk(0)));
  memset(block - 65536, 0xa5, 65536);
  (void)*Hide(reinterpret_cast<volatile int*>(0x18));
  STAY;
}

__attribute__((noinline)) void crash_callback_crashes() {
  in_thread_body();
  STAY;
}

struct DiesLate {
  bool armed = false;
  ~DiesLate() {
    if (armed) {
      in_thread_body();
    }
  }
};
static DiesLate g_dies_late;

__attribute__((noinline)) void crash_in_static_destructor() {
  g_dies_late.armed = true;
  exit(0);
}

__attribute__((noinline)) void crash_fs_base_destroyed() {
  TellAddress("fault_address", 0x18);
  TellSelf();
  syscall(SYS_arch_prctl, ARCH_SET_FS, 0);
  (void)*Hide(reinterpret_cast<volatile int*>(0x18));
  STAY;
}

#define CAIRN_V(name, signal, code, kind, flags) void crash_##name();
CAIRN_CRASH_LIST(CAIRN_V)
#undef CAIRN_V

}  // extern "C"

namespace cairn::crash {
namespace {

// The state letter of a thread, as the kernel tells it; no libc buffers here,
// this runs inside a crash.
char StateOf(pid_t thread) {
  char path[64], line[256];
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? -1 : read(file, line, sizeof(line));
  close(file);
  const void* behind = got > 0 ? memrchr(line, ')', got) : nullptr;
  return behind == nullptr ? '?' : static_cast<const char*>(behind)[2];
}

}  // namespace

void WaitUntilAllHaveCrashed() {
  for (unsigned i = 0; i < g_together; ++i) {
    for (int tries = 0; tries < 2000; ++tries) {
      const pid_t thread = g_past_barrier[i];
      if (thread == static_cast<pid_t>(syscall(SYS_gettid)) ||
          (thread != 0 && StateOf(thread) == 'S')) {
        break;
      }
      usleep(1000);
    }
  }
}

CrashFunction FindCrash(const std::string& name) {
#define CAIRN_V(entry, signal, code, kind, flags) \
  if (name == #entry) {                           \
    return &crash_##entry;                        \
  }
  CAIRN_CRASH_LIST(CAIRN_V)
#undef CAIRN_V
  return nullptr;
}

void PrepareCrash(const std::string& name) {
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  if (name == "earlier_handler_mends") {
    action.sa_sigaction = mend;
    sigaction(SIGSEGV, &action, nullptr);
  } else if (name == "earlier_handler_raises_blocked") {
    action.sa_sigaction = last_words;
    sigaction(SIGABRT, &action, nullptr);
  } else if (name == "earlier_handler_leaves_it") {
    action.sa_sigaction = reset_only;
    sigaction(SIGSEGV, &action, nullptr);
  } else if (name == "earlier_handler_dies") {
    action.sa_sigaction = last_words;
    sigaction(SIGSEGV, &action, nullptr);
  } else if (name == "no_descriptors") {
    const rlimit limit = {64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace cairn::crash
