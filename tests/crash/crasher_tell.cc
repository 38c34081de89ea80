// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "tests/crash/crasher.h"

namespace {

std::atomic<bool> g_forbidden{false};

// The allocator trap. glibc's own functions stand behind ours; before it is
// armed every call is passed on.
void Check() {
  if (g_forbidden.load(std::memory_order_relaxed)) {
    static const char kText[] =
        "the allocator was called while a crash was handled\n";
    if (write(2, kText, sizeof(kText) - 1) >= 0) {
      _exit(99);
    }
    _exit(99);
  }
}

}  // namespace

extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);

void* malloc(size_t bytes) {
  Check();
  return __libc_malloc(bytes);
}
void free(void* memory) {
  if (memory != nullptr) {
    Check();
  }
  __libc_free(memory);
}
void* calloc(size_t count, size_t bytes) {
  Check();
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  Check();
  return __libc_realloc(memory, bytes);
}
}

namespace cairn::crash {
namespace {

pthread_t g_older;
sem_t g_older_go;
void (*volatile g_older_function)() = nullptr;

struct Parked {
  std::string name;
  sem_t ready;
};

__attribute__((noinline)) void WaitForEver() {
  for (;;) {
    pause();
  }
}

void* parked_thread(void* given) {
  auto* parked = static_cast<Parked*>(given);
  prctl(PR_SET_NAME, parked->name.c_str());
  Tell("thread", std::to_string(syscall(SYS_gettid)) + " " + parked->name);
  sem_post(&parked->ready);
  WaitForEver();
  asm volatile("");
  return nullptr;
}

void* older_thread(void*) {
  prctl(PR_SET_NAME, "older");
  while (sem_wait(&g_older_go) != 0) {
  }
  g_older_function();
  asm volatile("");
  return nullptr;
}

struct NamedRun {
  void (*function)();
  const char* name;
};

void* run_thread(void* given) {
  const NamedRun run = *static_cast<NamedRun*>(given);
  prctl(PR_SET_NAME, run.name);
  run.function();
  asm volatile("");
  return nullptr;
}

}  // namespace

void Tell(const std::string& word, const std::string& values) {
  const std::string line = word + " " + values + "\n";
  if (write(1, line.data(), line.size()) < 0) {
    _exit(98);
  }
}

void TellAddress(const char* word, uint64_t address) {
  char text[32];
  snprintf(
      text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  Tell(word, text);
}

void TellThread() {
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  Tell("crashing", std::to_string(syscall(SYS_gettid)) + " " + name);
}

void ForbidAllocation() {
  g_forbidden = true;
}

namespace {

std::string AddressText(void* const* addresses, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    char number[32];
    snprintf(number, sizeof(number), "%p ", addresses[i]);
    text += number;
  }
  return text;
}

}  // namespace

__attribute__((noinline)) void TellSelf() {
  TellThread();
  void* addresses[256];
  const int count = backtrace(addresses, 256);
  // 0 is here; 1 is in the crash function, at the call of this one.
  Tell("backtrace", AddressText(addresses + 1, count - 1));
  ForbidAllocation();
}

void ParkThread(const std::string& name, size_t stack_bytes) {
  auto* parked = new Parked;
  parked->name = name;
  sem_init(&parked->ready, 0, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_bytes != 0) {
    pthread_attr_setstacksize(&attributes, stack_bytes);
  }
  pthread_t thread;
  if (pthread_create(&thread, &attributes, parked_thread, parked) != 0) {
    _exit(97);
  }
  while (sem_wait(&parked->ready) != 0) {
  }
}

void RunInThread(void (*function)(), const char* name) {
  NamedRun run = {function, name};
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run_thread, &run) != 0) {
    _exit(97);
  }
  pthread_join(thread, nullptr);
}

void StartOlderThread() {
  sem_init(&g_older_go, 0, 0);
  if (pthread_create(&g_older, nullptr, older_thread, nullptr) != 0) {
    _exit(97);
  }
}

void RunInOlderThread(void (*function)()) {
  g_older_function = function;
  sem_post(&g_older_go);
  pthread_join(g_older, nullptr);
}

}  // namespace cairn::crash
