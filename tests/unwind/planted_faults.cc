// SPDX-License-Identifier: Apache-2.0
//
// Faults put into the unwinder when step_proof_planted is linked (--wrap), to
// show that the proof finds them. CAIRN_PLANT in the environment chooses:
//   cfa       the CFA is 8 too high, where it is the stack pointer's offset
//   epilogue  what an epilogue has taken off the stack is not known
//   pc        a return address is looked up behind the call, not in it
#include <cstdlib>
#include <string>

#include "capture/cfi_program.h"
#include "capture/step.h"

namespace cairn::capture {

bool RealRunCfiProgram(const safe::MemoryReader&, const CfiEntry&, uint64_t, int, CfiRow*) __asm__(
    "__real__ZN5cairn7capture13RunCfiProgra"
    "mERKNS_4safe12MemoryReaderERKNS0_8CfiE"
    "ntryEmiPNS0_6CfiRowE");
bool PlantedRunCfiProgram(const safe::MemoryReader&, const CfiEntry&, uint64_t, int, CfiRow*) __asm__(
    "__wrap__ZN5cairn7capture13RunCfiPro"
    "gramERKNS_4safe12MemoryReaderERKNS0"
    "_8CfiEntryEmiPNS0_6CfiRowE");
StepResult RealStepByCfi(WalkState*, const FrameState&, FrameState*) __asm__(
    "__real__ZN5cairn7capture9StepByCfiEPNS0_9WalkStateER"
    "KNS0_10FrameStateEPS3_");
StepResult PlantedStepByCfi(WalkState*, const FrameState&, FrameState*) __asm__(
    "__wrap__ZN5cairn7capture9StepByCfiEPNS0_9WalkStateER"
    "KNS0_10FrameStateEPS3_");

namespace {

constexpr int kStackPointer = 7;
constexpr uint64_t kLongestBody = 4096;

bool IsPlanted(const char* what) {
  static const char* const chosen = std::getenv("CAIRN_PLANT");
  return chosen != nullptr && std::string(chosen) == what;
}

bool IsByStackPointer(const CfiRow& row) {
  return row.cfa_rule == CfaRule::kRegisterOffset &&
         row.cfa_register == kStackPointer;
}

}  // namespace

bool PlantedRunCfiProgram(const safe::MemoryReader& memory,
                          const CfiEntry& entry,
                          uint64_t address,
                          int pointer_bytes,
                          CfiRow* row) {
  if (!RealRunCfiProgram(memory, entry, address, pointer_bytes, row)) {
    return false;
  }
  if (IsPlanted("cfa") && IsByStackPointer(*row)) {
    row->cfa_value += 8;
  }
  // The row of the body in place of one with less on the stack behind it.
  CfiRow earlier;
  for (uint64_t back = 1; IsPlanted("epilogue") && back < kLongestBody &&
                          address - back >= entry.begin;
       ++back) {
    if (RealRunCfiProgram(
            memory, entry, address - back, pointer_bytes, &earlier) &&
        IsByStackPointer(*row) && IsByStackPointer(earlier) &&
        earlier.cfa_value > row->cfa_value) {
      *row = earlier;
      break;
    }
  }
  return true;
}

StepResult PlantedStepByCfi(WalkState* state,
                            const FrameState& frame,
                            FrameState* caller) {
  if (!IsPlanted("pc") || frame.kind != format::FrameKind::kReturn) {
    return RealStepByCfi(state, frame, caller);
  }
  FrameState changed = frame;
  changed.kind = format::FrameKind::kInterrupted;
  return RealStepByCfi(state, changed, caller);
}

}  // namespace cairn::capture
