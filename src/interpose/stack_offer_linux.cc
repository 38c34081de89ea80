// SPDX-License-Identifier: Apache-2.0
#include "interpose/stack_offer_linux.h"

#include <signal.h>
#include <ucontext.h>

#include "safe/syscall_linux.h"

namespace cairn::interpose {
namespace {

// `count` is set last and cleared first.
const StackOffer* g_offers = nullptr;
size_t g_count = 0;
size_t g_stack_bytes = 0;
uint32_t g_answers = 0;

}  // namespace

void OfferStacks(const StackOffer* offers, size_t count, size_t stack_bytes) {
  __atomic_store_n(&g_answers, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&g_offers, offers, __ATOMIC_RELAXED);
  __atomic_store_n(&g_stack_bytes, stack_bytes, __ATOMIC_RELAXED);
  __atomic_store_n(&g_count, count, __ATOMIC_RELEASE);
}

void EndOffer() {
  __atomic_store_n(&g_count, 0, __ATOMIC_RELEASE);
}

uint32_t AwaitAnswers(uint32_t wanted, uint64_t deadline_ns) {
  uint32_t answers = __atomic_load_n(&g_answers, __ATOMIC_ACQUIRE);
  while (answers < wanted && safe::MonotonicNs() < deadline_ns) {
    safe::FutexWaitUntil(&g_answers, answers, deadline_ns);
    answers = __atomic_load_n(&g_answers, __ATOMIC_ACQUIRE);
  }
  return answers;
}

// sigaltstack itself is undone by sigreturn, which restores the stack that the
// kernel saved in the frame; editing that is what lasts.
void OnOffer(int /*signal*/, void* /*siginfo*/, void* ucontext) {
  stack_t& stack = static_cast<ucontext_t*>(ucontext)->uc_stack;
  const int32_t self = safe::ThreadId();
  const size_t count = __atomic_load_n(&g_count, __ATOMIC_ACQUIRE);
  const size_t bytes = __atomic_load_n(&g_stack_bytes, __ATOMIC_RELAXED);
  const StackOffer* offers = __atomic_load_n(&g_offers, __ATOMIC_RELAXED);
  for (size_t i = 0; i < count; ++i) {
    if (offers[i].thread_id == self) {
      if ((stack.ss_flags & SS_DISABLE) != 0 || stack.ss_size < bytes) {
        stack.ss_sp = offers[i].stack;
        stack.ss_flags = 0;
        stack.ss_size = bytes;
      }
      break;
    }
  }
  __atomic_add_fetch(&g_answers, 1, __ATOMIC_ACQ_REL);
  safe::FutexWakeAll(&g_answers);
}

}  // namespace cairn::interpose
