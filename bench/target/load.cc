// SPDX-License-Identifier: Apache-2.0
#include "bench/target/load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace cairn::bench {
namespace {

std::atomic<uint32_t> g_parked{0};

// `action(context)`, below `frames` calls.
__attribute__((noinline)) void Deep(uint32_t frames,
                                    void (*action)(void*),
                                    void* context) {
  if (frames <= 1) {
    action(context);
  } else {
    Deep(frames - 1, action, context);
  }
  asm volatile("");  // no tail call
}

void Park(void* /*context*/) {
  ++g_parked;
  for (;;) {
    pause();
  }
}

void* ThreadMain(void* request) {
  Deep(static_cast<const Request*>(request)->frames, Park, nullptr);
  return nullptr;
}

void WriteToNull(void* answer) {
  volatile int* null_page = nullptr;
  asm volatile("" : "+r"(null_page));
  static_cast<Answer*>(answer)->fault_ns = MonotonicNs();
  null_page[6] = 1;
}

}  // namespace

const char* LoadLibraries(const Request& request) {
  for (uint32_t i = 0; i < request.libraries; ++i) {
    char path[sizeof(request.library_directory) + 32];
    std::snprintf(
        path, sizeof(path), "%s/lib%u.so", request.library_directory, i);
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == nullptr) {
      return dlerror();
    }
  }
  return nullptr;
}

const char* StartThreads(const Request& request) {
  uint32_t started = 0;
  for (uint32_t i = 1; i < request.threads; ++i) {
    pthread_t thread;
    if (pthread_create(
            &thread, nullptr, ThreadMain, const_cast<Request*>(&request)) !=
        0) {
      return "a thread was refused: ulimit -u, pids.max, or vm.max_map_count";
    }
    ++started;
  }
  while (g_parked < started) {
    usleep(1000);
  }
  // Counted a moment before they sleep.
  usleep(started > 0 ? 20000 : 0);
  return nullptr;
}

void Fault(const Request& request, Answer* answer) {
  Deep(request.frames, WriteToNull, answer);
}

}  // namespace cairn::bench
