// SPDX-License-Identifier: Apache-2.0
//
// One step of a stack walk: from a frame to its caller. A walk asks a list of
// strategies in order; the first whose answer stands up to the invariants of
// the walk (unwinder.cc) wins. Tests hand in lists of their own.
//
// Crash time: yes.
#ifndef CAIRN_CAPTURE_STEP_H_
#define CAIRN_CAPTURE_STEP_H_

#include <cstddef>
#include <cstdint>

#include "capture/registers.h"
#include "capture/rule_cache.h"
#include "capture/unwinder.h"

namespace cairn::capture {

// What the steps of one walk share.
struct WalkState {
  const WalkInput* input;
  RegisterRoles roles;
  // Entries of unwind tables that may still be read one by one.
  uint32_t linear_budget;
  // The stack's bounds while the walk is inside them, else 0 and the highest
  // address.
  StackBounds bounds;
  RecentRules recent;  // used when the input has no cache

  const CompiledRule* FindRule(uint64_t lookup_address) const {
    return input->cache == nullptr ? recent.Find(lookup_address)
                                   : input->cache->sets.Find(lookup_address);
  }
  void AddRule(const CompiledRule& rule) {
    return input->cache == nullptr ? recent.Add(rule)
                                   : input->cache->sets.Add(rule);
  }
};

// A frame with what is known of its registers.
struct FrameState {
  Registers registers;
  format::FrameKind kind;
  format::FrameTrust trust;

  // Where the frame's code is looked up: in the call, not behind it.
  uint64_t LookupAddress() const {
    const uint64_t address = ProgramCounter(registers);
    return kind == format::FrameKind::kReturn ? address - 1 : address;
  }
};

enum class StepResult {
  kCaller,      // `caller` is filled
  kEnd,         // the frame is the outermost
  kMaybeEnd,    // it looks like the outermost, if no other strategy has more
  kNoRule,      // the strategy does not apply
  kUnreadable,  // it does, but memory it needs cannot be read
};

// Fills all of `caller`.
using StepFunction = StepResult (*)(WalkState* state,
                                    const FrameState& frame,
                                    FrameState* caller);

StepResult StepByCfi(WalkState*, const FrameState&, FrameState*);
StepResult StepByTrampoline(WalkState*, const FrameState&, FrameState*);
StepResult StepByStackTop(WalkState*, const FrameState&, FrameState*);
StepResult StepByFramePointer(WalkState*, const FrameState&, FrameState*);
StepResult StepByScan(WalkState*, const FrameState&, FrameState*);

// WalkStack with a list of the caller's.
void WalkStackWith(const StepFunction* strategies,
                   size_t strategy_count,
                   const WalkInput& input,
                   WalkOutput* output);

// Reads one pointer of the target from its stack.
bool ReadStackPointer(const WalkState& state, uint64_t address, uint64_t* out);
// Removes a signature from a return address.
uint64_t StripReturnAddress(const WalkState& state, uint64_t address);
// True when `address` may be returned to: in an executable segment, or, where
// no image is, in readable memory behind a call (code made at run time).
bool IsReturnAddress(const WalkState& state, uint64_t address);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_STEP_H_
