// SPDX-License-Identifier: Apache-2.0
#include "interpose/interposed.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

#include "handlers/crash_state.h"
#include "interpose/alternate_stack.h"
#include "interpose/image_watch.h"

// The same function in a static C library, where dlsym finds nothing:
// pthread_create is weak there (libc.a, pthread_create.o), so ours may stand
// beside it. A weak reference pulls nothing from an archive; the address of
// thrd_create does, and exists in both.
extern "C" int __pthread_create_2_1(pthread_t*,
                                    const pthread_attr_t*,
                                    void* (*)(void*),
                                    void*) __attribute__((weak));

namespace {

using CreateFunction = int (*)(pthread_t*,
                               const pthread_attr_t*,
                               void* (*)(void*),
                               void*);

CreateFunction g_pthread_create = nullptr;
int (*volatile g_static_anchor)(thrd_t*, thrd_start_t, void*) = &thrd_create;

struct Start {
  void* (*routine)(void*);
  void* argument;
};

void* RunThread(void* given) {
  const Start start = *static_cast<Start*>(given);
  free(given);
  if (cairn::handlers::State() != nullptr) {
    cairn::interpose::GiveAlternateStack();
  }
  return start.routine(start.argument);
}

CreateFunction NextCreate() {
  if (g_pthread_create == nullptr) {
    g_pthread_create =
        reinterpret_cast<CreateFunction>(dlsym(RTLD_NEXT, "pthread_create"));
  }
  if (g_pthread_create == nullptr && g_static_anchor != nullptr) {
    g_pthread_create = &__pthread_create_2_1;
  }
  return g_pthread_create;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread,
    const pthread_attr_t* attributes,
    void* (*routine)(void*),
    void* argument) {
  const CreateFunction next = NextCreate();
  if (next == nullptr) {
    return EAGAIN;
  }
  auto* start = static_cast<Start*>(malloc(sizeof(Start)));
  if (start == nullptr) {
    return next(thread, attributes, routine, argument);
  }
  *start = {routine, argument};
  const int failed = next(thread, attributes, &RunThread, start);
  if (failed != 0) {
    free(start);
  }
  return failed;
}

// Where dlopen and dlclose go on; filled at the first call.
__attribute__((visibility("hidden"))) void* cairn_next_dlopen = nullptr;
__attribute__((visibility("hidden"))) void* cairn_next_dlclose = nullptr;

__attribute__((visibility("hidden"), used)) void cairn_before_loading() {
  if (cairn_next_dlopen == nullptr) {
    cairn_next_dlclose = dlsym(RTLD_NEXT, "dlclose");
    cairn_next_dlopen = dlsym(RTLD_NEXT, "dlopen");
  }
  cairn::handlers::CrashState* state = cairn::handlers::State();
  if (state != nullptr) {
    const int kept = errno;
    cairn::interpose::UpdateImages(state);
    errno = kept;
  }
}

// The loader looks at the return address to find whose search path holds, so
// the call is passed on by a jump that leaves the stack as it was.
__attribute__((visibility("default"), naked)) void* dlopen(const char* /*file*/,
                                                           int /*mode*/) {
  __asm__(
      "push %rdi\n"
      "push %rsi\n"
      "sub $8, %rsp\n"
      "call cairn_before_loading\n"
      "add $8, %rsp\n"
      "pop %rsi\n"
      "pop %rdi\n"
      "mov cairn_next_dlopen(%rip), %rax\n"
      "test %rax, %rax\n"
      "jz 1f\n"
      "jmp *%rax\n"
      "1: ret\n");  // a static program: no loader, and rax is null
}

__attribute__((visibility("default"), naked)) int dlclose(void* /*handle*/) {
  __asm__(
      "push %rdi\n"
      "call cairn_before_loading\n"
      "pop %rdi\n"
      "mov cairn_next_dlclose(%rip), %rax\n"
      "test %rax, %rax\n"
      "jz 1f\n"
      "jmp *%rax\n"
      "1: mov $-1, %eax\n"
      "ret\n");
}

}  // extern "C"

namespace cairn::interpose {

void PrepareInterposition() {
  NextCreate();
}

bool IsInterposed() {
  void* found = dlsym(RTLD_DEFAULT, "pthread_create");
  return found == reinterpret_cast<void*>(&::pthread_create);
}

}  // namespace cairn::interpose
