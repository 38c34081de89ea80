// SPDX-License-Identifier: Apache-2.0
//
// Alternate signal stacks for threads that already run: each is sent a signal,
// and the handler hangs the offered stack into the context it returns to.
//
// OfferStacks and EndOffer: one thread at a time, not at crash time. OnOffer
// interrupts whatever a thread is doing, so it is built as crash-time code.
#ifndef CAIRN_INTERPOSE_STACK_OFFER_LINUX_H_
#define CAIRN_INTERPOSE_STACK_OFFER_LINUX_H_

#include <cstddef>
#include <cstdint>

namespace cairn::interpose {

struct StackOffer {
  int32_t thread_id = 0;
  void* stack = nullptr;  // its lowest byte
};

// The offers that OnOffer takes from, each of `stack_bytes`; they must outlive
// every handler that may still read them. Sets the count of answers to 0.
void OfferStacks(const StackOffer* offers, size_t count, size_t stack_bytes);
// A handler that comes later finds no offer.
void EndOffer();

// How many threads have answered since OfferStacks, whether or not they needed
// the stack; waits until it is at least `wanted` or `deadline_ns` (monotonic).
uint32_t AwaitAnswers(uint32_t wanted, uint64_t deadline_ns);

// The handler, with the arguments of SA_SIGINFO.
void OnOffer(int signal, void* siginfo, void* ucontext);

}  // namespace cairn::interpose

#endif  // CAIRN_INTERPOSE_STACK_OFFER_LINUX_H_
