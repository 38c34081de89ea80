// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/shadow_stack.h"

namespace cairn::unwind_tests {
namespace {

// No frame is larger: the stack pointer has gone to another stack.
constexpr uint64_t kLargestStep = uint64_t{64} << 20;

}  // namespace

void ShadowStack::Push(uint64_t slot, uint64_t address) {
  slots_.push_back(slot);
  addresses_.push_back(address);
}

void ShadowStack::PopTo(uint64_t sp) {
  const size_t floor = signals_.empty() ? 0 : signals_.back().depth;
  while (slots_.size() > floor && slots_.back() < sp) {
    slots_.pop_back();
    addresses_.pop_back();
  }
}

void ShadowStack::Step(const Place& from, const Place& to, uint64_t top) {
  const uint64_t distance = to.sp > from.sp ? to.sp - from.sp : from.sp - to.sp;
  if (distance > kLargestStep) {
    ++resynchronisations_;
    return;
  }
  PopTo(to.sp);
  if (MayBeCall(from, to) && top > from.pc &&
      top - from.pc <= kLongestInstruction && to.pc != top) {
    Push(to.sp, top);
  }
}

void ShadowStack::BeginSignal(const Place& from,
                              const Place& to,
                              uint64_t top) {
  Push(from.sp, from.pc);
  signals_.push_back({from, slots_.size()});
  Push(to.sp, top);
}

void ShadowStack::AfterSystemCall(const Place& to) {
  if (signals_.empty() || slots_.size() != signals_.back().depth ||
      to.sp != signals_.back().interrupted.sp) {
    return;
  }
  signals_.pop_back();
  slots_.pop_back();
  addresses_.pop_back();
}

}  // namespace cairn::unwind_tests
