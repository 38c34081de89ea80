// SPDX-License-Identifier: Apache-2.0
//
// What is left where no unwind table speaks: the stack top for frame 0 and
// where a signal interrupted, the frame-pointer chain, and a bounded scan.
//
// Folklore: a frame without CFI in the middle of a stack must not be bridged by
// the scan while a believable frame-pointer chain is there: the scan takes
// stale return addresses and shows plausible wrong frames. Test:
// FallbackSteps.FramePointerChainWinsOverScan.
#include "capture/arm64_frame.h"
#include "capture/call_site.h"
#include "capture/step.h"
#include "safe/bytes.h"

namespace cairn::capture {
namespace {

using format::Architecture;
using format::FrameKind;
using format::FrameTrust;

// A call's target this far before an address may be the function that holds
// it.
constexpr uint64_t kMaxFunctionBytes = 64 * 1024;
constexpr size_t kWordsAtOnce = 16;

// What the call before a return address says of the code at an address.
enum class CallFit {
  kElsewhere,  // it calls something else: a tail call between, or stale
  kUnknown,    // through a register
  kLeadsTo     // the function that it calls may hold the address
};

CallFit FitOf(const WalkState& state,
              uint64_t return_address,
              uint64_t address) {
  const WalkInput& input = *state.input;
  const uint64_t called = CalledAddress(
      input.memory, input.registers->architecture, return_address);
  if (called == 0) {
    return CallFit::kUnknown;
  }
  return called <= address && address - called < kMaxFunctionBytes &&
                 input.images->Find(called) == input.images->Find(address)
             ? CallFit::kLeadsTo
             : CallFit::kElsewhere;
}

bool IsCalledFrom(const WalkState& state, uint64_t return_address) {
  const WalkInput& input = *state.input;
  return IsReturnAddress(state, return_address) &&
         IsBehindCall(
             input.memory, input.registers->architecture, return_address);
}

// The caller's state when only its address and stack pointer are known.
// Registers that calls keep are carried on only where nobody can have changed
// them: when `frame` has done nothing yet.
void SetCaller(const WalkState& state,
               const FrameState& frame,
               uint64_t address,
               uint64_t stack_pointer,
               FrameTrust trust,
               FrameState* caller) {
  caller->registers = frame.registers;
  caller->registers.Set(state.roles.program_counter,
                        StripReturnAddress(state, address));
  caller->registers.Set(state.roles.stack_pointer, stack_pointer);
  if (state.roles.link >= 0) {
    caller->registers.Forget(state.roles.link);
  }
  caller->kind = FrameKind::kReturn;
  caller->trust = trust;
}

void KeepOnly(const WalkState& state, bool frame_pointer, FrameState* caller) {
  uint64_t kept = uint64_t{1} << state.roles.program_counter |
                  uint64_t{1} << state.roles.stack_pointer;
  if (frame_pointer) {
    kept |= uint64_t{1} << state.roles.frame_pointer;
  }
  caller->registers.valid &= kept;
}

// The program counter is where no code is: the call that led there has just
// been made, and its return address is the newest thing.
bool IsNoCode(const WalkState& state, uint64_t address) {
  const ImageTable& images = *state.input->images;
  return images.Find(address) == kNoImage || !images.IsExecutable(address);
}

// The link register that leads to the code at `address` is that of the frame
// there only while the function has not stored it: who takes it, and then the
// record too, has a frame twice.
bool IsLinkLive(const WalkState& state,
                uint64_t return_address,
                uint64_t address) {
  const WalkInput& input = *state.input;
  const uint64_t called = CalledAddress(
      input.memory, input.registers->architecture, return_address);
  const LinkPlace place = FindArm64Link(input.memory, called, address);
  // Stored, but the frame pointer is not set yet: the register holds it still,
  // unless the function has called others since; then it would not lead here.
  return place == LinkPlace::kRegister || place == LinkPlace::kStack;
}

// The words of a stack, read in pieces.
class WordReader {
 public:
  WordReader(const WalkState& state, uint64_t low)
      : state_(state),
        low_(low),
        width_(static_cast<size_t>(state.roles.pointer_bytes)) {}

  // Word `index`; 0 when it is unreadable. In rising order.
  uint64_t At(size_t index) {
    const size_t place = index % kWordsAtOnce;
    if (place == 0) {
      safe::Fill(words_, 0, sizeof(words_));
      state_.input->stack_memory.ReadSome(
          low_ + index * width_, words_, kWordsAtOnce * width_);
    }
    uint64_t value = 0;
    safe::Copy(&value, words_ + place * width_, width_);
    return value;
  }

 private:
  const WalkState& state_;
  const uint64_t low_;
  const size_t width_;
  uint8_t words_[kWordsAtOnce * sizeof(uint64_t)];
};

}  // namespace

// x86: [sp] is the return address, (sp) = (sp + 8). Else the link register is.
StepResult StepByStackTop(WalkState* state,
                          const FrameState& frame,
                          FrameState* caller) {
  const Registers& registers = frame.registers;
  const RegisterRoles& roles = state->roles;
  if (frame.kind == FrameKind::kReturn || !registers.Has(roles.stack_pointer)) {
    return StepResult::kNoRule;
  }
  const uint64_t address = ProgramCounter(registers);
  uint64_t stack_pointer = registers.values[roles.stack_pointer];
  uint64_t return_address = 0;
  if (roles.link >= 0) {
    if (!registers.Has(roles.link)) {
      return StepResult::kNoRule;
    }
    return_address = StripReturnAddress(*state, registers.values[roles.link]);
  } else {
    if (!ReadStackPointer(*state, stack_pointer, &return_address)) {
      return StepResult::kUnreadable;
    }
    stack_pointer += static_cast<uint64_t>(roles.pointer_bytes);
  }
  if (!IsCalledFrom(*state, return_address) ||
      (!IsNoCode(*state, address) &&
       FitOf(*state, return_address, address) != CallFit::kLeadsTo)) {
    return StepResult::kNoRule;
  }
  if (roles.link >= 0 && !IsNoCode(*state, address) &&
      !IsLinkLive(*state, return_address, address)) {
    return StepResult::kNoRule;
  }
  SetCaller(*state,
            frame,
            return_address,
            stack_pointer,
            FrameTrust::kLinkRegister,
            caller);
  return StepResult::kCaller;
}

// (fp, pc, sp) = ([fp], [fp + 8], fp + 16)
StepResult StepByFramePointer(WalkState* state,
                              const FrameState& frame,
                              FrameState* caller) {
  const Registers& registers = frame.registers;
  const RegisterRoles& roles = state->roles;
  const auto width = static_cast<uint64_t>(roles.pointer_bytes);
  // On 32-bit ARM compilers do not agree on the frame pointer, but for Apple's.
  if (!registers.Has(roles.frame_pointer) ||
      (registers.architecture == Architecture::kArm &&
       !state->input->apple_abi)) {
    return StepResult::kNoRule;
  }
  const uint64_t record = registers.values[roles.frame_pointer];
  if (record == 0) {
    return frame.trust == FrameTrust::kFramePointer ? StepResult::kEnd
                                                    : StepResult::kMaybeEnd;
  }
  if (record % width != 0 || record < StackPointer(registers) ||
      record < state->bounds.low || record >= state->bounds.high) {
    return StepResult::kNoRule;
  }
  uint64_t previous = 0;
  uint64_t return_address = 0;
  if (!ReadStackPointer(*state, record, &previous) ||
      !ReadStackPointer(*state, record + width, &return_address)) {
    return StepResult::kUnreadable;
  }
  if (return_address == 0) {
    return previous == 0 ? StepResult::kEnd : StepResult::kNoRule;
  }
  return_address = StripReturnAddress(*state, return_address);
  const bool chains =
      previous == 0 || (previous % width == 0 && previous > record &&
                        previous < state->bounds.high);
  // The caller may use its frame pointer register for something else: then the
  // call must not speak against the record.
  if (!IsCalledFrom(*state, return_address) ||
      (!chains && FitOf(*state, return_address, frame.LookupAddress()) ==
                      CallFit::kElsewhere)) {
    return StepResult::kNoRule;
  }
  SetCaller(*state,
            frame,
            return_address,
            record + 2 * width,
            FrameTrust::kFramePointer,
            caller);
  caller->registers.Set(roles.frame_pointer, previous);
  KeepOnly(*state, true, caller);
  return StepResult::kCaller;
}

// The nearest word that is a return address behind a call: the first whose call
// leads to this frame's code, else the first through a register, else the
// first.
StepResult StepByScan(WalkState* state,
                      const FrameState& frame,
                      FrameState* caller) {
  const Registers& registers = frame.registers;
  const auto width = static_cast<uint64_t>(state->roles.pointer_bytes);
  if (!registers.Has(state->roles.stack_pointer)) {
    return StepResult::kNoRule;
  }
  const uint64_t low =
      (StackPointer(registers) + width - 1) & ~uint64_t{width - 1};
  uint64_t found = 0;
  uint64_t found_at = 0;
  CallFit best = CallFit::kElsewhere;
  WordReader words(*state, low);
  for (size_t i = 0;
       i < state->input->limits.scan_words &&
       low + i * width < state->bounds.high && best != CallFit::kLeadsTo;
       ++i) {
    const uint64_t value = StripReturnAddress(*state, words.At(i));
    if (value == 0 || !state->input->images->IsExecutable(value - 1) ||
        !IsCalledFrom(*state, value)) {
      continue;
    }
    const CallFit fit = FitOf(*state, value, frame.LookupAddress());
    if (found == 0 || fit > best) {
      found = value;
      found_at = low + i * width;
      best = fit;
    }
  }
  if (found == 0) {
    return StepResult::kNoRule;
  }
  SetCaller(*state, frame, found, found_at + width, FrameTrust::kScan, caller);
  // A frame pointer above the frame may still be the caller's own.
  const int frame_pointer = state->roles.frame_pointer;
  KeepOnly(*state,
           registers.Has(frame_pointer) &&
               registers.values[frame_pointer] > found_at,
           caller);
  return StepResult::kCaller;
}

}  // namespace cairn::capture
