// SPDX-License-Identifier: Apache-2.0
//
// The flow: WalkStack → WalkStackWith (the list) → for each frame StepOnce:
// each strategy in order, Judge its answer, take the first good one.
#include "capture/unwinder.h"

#include "capture/call_site.h"
#include "capture/rule_cache.h"
#include "capture/step.h"

namespace cairn::capture {
namespace {

using format::Architecture;
using format::FrameKind;
using format::FrameTrust;
using format::WalkEnd;

// Entries of .eh_frame that one walk may read without a search table.
constexpr uint32_t kLinearBudget = 1 << 18;
// How often a walk may go to another stack, through signal frames: alternate
// stacks are at most nested once or twice.
constexpr int kMaxStackSwitches = 16;
constexpr uint64_t kNullPageBytes = 4096;
constexpr uint64_t kHighestUserAddress = uint64_t{1} << 57;

constexpr StepFunction kStrategies[] = {StepByCfi,
                                        StepByTrampoline,
                                        StepByStackTop,
                                        StepByFramePointer,
                                        StepByScan};

// Keeps the first `inner` frames where they are, and the last `outer` in a
// ring.
class FrameStore {
 public:
  FrameStore(const WalkLimits& limits, WalkOutput* output)
      : inner_(limits.inner_frames),
        outer_(limits.outer_frames),
        output_(output) {}

  void Add(const FrameState& frame) {
    size_t place = total_;
    if (total_ >= inner_) {
      place = outer_ == 0 ? inner_ : inner_ + (total_ - inner_) % outer_;
    }
    if (place < inner_ + outer_) {
      output_->frames[place] = {ProgramCounter(frame.registers),
                                StackPointer(frame.registers),
                                frame.kind,
                                frame.trust};
    }
    ++total_;
  }
  size_t total() const { return total_; }

  void Finish() {
    const size_t room = inner_ + outer_;
    output_->count = total_ < room ? total_ : room;
    output_->gap_frames = total_ - output_->count;
    output_->gap_position = output_->gap_frames > 0 ? inner_ : 0;
    if (output_->gap_frames > 0 && outer_ > 0) {
      Rotate((total_ - inner_) % outer_);
    }
  }

 private:
  // Brings the ring's entry `first` to its front: three reversals.
  void Rotate(size_t first) {
    Reverse(inner_, inner_ + first);
    Reverse(inner_ + first, inner_ + outer_);
    Reverse(inner_, inner_ + outer_);
  }
  void Reverse(size_t low, size_t high) {
    for (; low + 1 < high; ++low) {
      --high;
      const Frame moved = output_->frames[low];
      output_->frames[low] = output_->frames[high];
      output_->frames[high] = moved;
    }
  }

  const size_t inner_;
  const size_t outer_;
  WalkOutput* output_;
  size_t total_ = 0;
};

// The bounds that hold at `stack_pointer`.
StackBounds BoundsAt(const WalkInput& input, uint64_t stack_pointer) {
  const StackBounds& known = input.stack;
  const bool inside = stack_pointer >= known.low && stack_pointer < known.high;
  return inside ? known : StackBounds{0, ~uint64_t{0}};
}

enum class Verdict { kGood, kBad, kLoop };

// The invariants of a step. `switches` counts the changes of stack.
Verdict Judge(WalkState* state,
              const FrameState& frame,
              const FrameState& caller,
              int* switches) {
  const RegisterRoles& roles = state->roles;
  if (!caller.registers.Has(roles.stack_pointer) ||
      !caller.registers.Has(roles.program_counter)) {
    return Verdict::kBad;
  }
  const uint64_t from = StackPointer(frame.registers);
  const uint64_t to = StackPointer(caller.registers);
  if (caller.kind == FrameKind::kInterrupted) {
    if (to <= from && ++*switches > kMaxStackSwitches) {
      return Verdict::kLoop;
    }
    state->bounds = BoundsAt(*state->input, to);
    return Verdict::kGood;  // a fault may be anywhere, and misaligned
  }
  if (to % static_cast<uint64_t>(roles.pointer_bytes) != 0 ||
      to > state->bounds.high) {
    return Verdict::kBad;
  }
  // Without a push the caller of a leaf has the same stack pointer; so has, in
  // the last instructions of longjmp, the function that is jumped to, which the
  // tables call the caller. Test: step_proof, __longjmp.
  const bool may_be_equal =
      frame.kind != FrameKind::kReturn &&
      (roles.link >= 0 || caller.trust == FrameTrust::kCfi);
  if (to < from || (to == from && !may_be_equal)) {
    return Verdict::kLoop;
  }
  return state->FindRule(caller.LookupAddress()) != nullptr ||
                 IsReturnAddress(*state, ProgramCounter(caller.registers))
             ? Verdict::kGood
             : Verdict::kBad;
}

// One frame outwards. True: `caller` is filled. False: `end` tells why not.
bool StepOnce(const StepFunction* strategies,
              size_t strategy_count,
              WalkState* state,
              const FrameState& frame,
              FrameState* caller,
              int* switches,
              WalkEnd* end) {
  bool maybe_end = false;
  bool loops = false;
  bool unreadable = false;
  for (size_t i = 0; i < strategy_count; ++i) {
    switch (strategies[i](state, frame, caller)) {
      case StepResult::kNoRule:
        break;
      case StepResult::kUnreadable:
        unreadable = true;
        break;
      case StepResult::kMaybeEnd:
        maybe_end = true;
        break;
      case StepResult::kEnd:
        *end = WalkEnd::kEndOfStack;
        return false;
      case StepResult::kCaller:
        // A return address of 0 is how ABIs mark the outermost frame.
        if (caller->kind == FrameKind::kReturn &&
            ProgramCounter(caller->registers) == 0 &&
            caller->trust != FrameTrust::kScan) {
          *end = WalkEnd::kEndOfStack;
          return false;
        }
        const Verdict verdict = Judge(state, frame, *caller, switches);
        if (verdict == Verdict::kGood) {
          return true;
        }
        loops = loops || verdict == Verdict::kLoop;
        break;
    }
  }
  *end = maybe_end    ? WalkEnd::kEndOfStack
         : loops      ? WalkEnd::kLoop
         : unreadable ? WalkEnd::kUnreadable
                      : WalkEnd::kNoRule;
  return false;
}

}  // namespace

bool ReadStackPointer(const WalkState& state, uint64_t address, uint64_t* out) {
  *out = 0;
  return state.input->stack_memory.Read(
      address, out, static_cast<size_t>(state.roles.pointer_bytes));
}

uint64_t StripReturnAddress(const WalkState& state, uint64_t address) {
  uint64_t mask = state.input->return_address_mask;
  if (mask == 0) {
    mask = state.input->registers->architecture == Architecture::kArm64
               ? (uint64_t{1} << 48) - 1
               : ~uint64_t{0};
  }
  return address & mask;
}

bool IsReturnAddress(const WalkState& state, uint64_t address) {
  const WalkInput& input = *state.input;
  if (address < kNullPageBytes || address >= kHighestUserAddress) {
    return false;
  }
  if (input.images->IsExecutable(address - 1)) {
    return true;
  }
  const uint32_t image = input.images->Find(address - 1);
  return (image == kNoImage || input.images->at(image).unloaded != 0) &&
         IsBehindCall(input.memory, input.registers->architecture, address);
}

void WalkStackWith(const StepFunction* strategies,
                   size_t strategy_count,
                   const WalkInput& input,
                   WalkOutput* output) {
  WalkState state = {
      &input, RolesOf(input.registers->architecture), kLinearBudget, {}, {}};
  if (input.apple_abi && input.registers->architecture == Architecture::kArm) {
    state.roles.frame_pointer = 7;
  }
  FrameStore store(input.limits, output);
  FrameState frames[2];
  frames[0] = {
      *input.registers,
      input.first_is_fault ? FrameKind::kFault : FrameKind::kInterrupted,
      FrameTrust::kContext};
  state.bounds = BoundsAt(input, StackPointer(frames[0].registers));
  int switches = 0;
  output->end = WalkEnd::kNoRule;
  for (size_t current = 0;; current ^= 1) {
    store.Add(frames[current]);
    if (state.roles.program_counter < 0) {
      break;  // an architecture that nobody knows
    }
    if (store.total() >= input.limits.most_frames) {
      output->end = WalkEnd::kLimit;
      break;
    }
    if (!StepOnce(strategies,
                  strategy_count,
                  &state,
                  frames[current],
                  &frames[current ^ 1],
                  &switches,
                  &output->end)) {
      break;
    }
  }
  store.Finish();
}

void WalkStack(const WalkInput& input, WalkOutput* output) {
  WalkStackWith(
      kStrategies, sizeof(kStrategies) / sizeof(kStrategies[0]), input, output);
}

}  // namespace cairn::capture
