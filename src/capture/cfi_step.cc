// SPDX-License-Identifier: Apache-2.0
//
// The flow: StepByCfi → (rule in the cache) or FindEntry → RunCfiProgram →
// Compile → ApplyCompiled; what does not compile (expressions, signal frames,
// registers in registers): ApplyRow.
#include "capture/byte_reader.h"
#include "capture/cfi_expression.h"
#include "capture/cfi_program.h"
#include "capture/cfi_table.h"
#include "capture/rule_cache.h"
#include "capture/step.h"
#include "safe/bytes.h"

namespace cairn::capture {
namespace {

using format::Architecture;
using format::FrameKind;
using format::FrameTrust;

// An entry, where its bytes are, and the address to look up in its terms.
struct FoundEntry {
  CfiEntry entry;
  safe::MemoryReader memory;
  uint64_t address;
};

struct Abi {
  uint64_t callee_saved;  // bit i: DWARF register i
  int registers;          // DWARF numbers that `Registers` carries
};

constexpr uint64_t Bits(int low, int high) {
  return ((uint64_t{1} << (high - low + 1)) - 1) << low;
}

// System V psABIs; AAPCS64; AAPCS.
constexpr Abi AbiOf(Architecture architecture) {
  switch (architecture) {
    case Architecture::kX86_64:
      return {Bits(3, 3) | Bits(6, 6) | Bits(12, 15), 17};
    case Architecture::kI386:
      return {Bits(3, 3) | Bits(5, 7), 9};
    case Architecture::kArm64:
      return {Bits(19, 29), 33};
    case Architecture::kArm:
      return {Bits(4, 11), 16};
    case Architecture::kUnknown:
      break;
  }
  return {0, 0};
}

uint64_t Truncate(const WalkState& state, uint64_t value) {
  return state.roles.pointer_bytes == 4 ? static_cast<uint32_t>(value) : value;
}

uint64_t Moved(const WalkState& state, uint64_t base, int64_t offset) {
  return Truncate(state, base + static_cast<uint64_t>(offset));
}

// Completes `caller` once its registers but program counter are known, and the
// stack pointer where it has a rule of its own: the CFA otherwise. The caller's
// link register went with the call.
void Finish(const WalkState& state,
            uint64_t cfa,
            uint64_t return_address,
            bool signal_frame,
            FrameState* caller) {
  Registers& registers = caller->registers;
  const RegisterRoles& roles = state.roles;
  if (!registers.Has(roles.stack_pointer)) {
    registers.Set(roles.stack_pointer, cfa);
  }
  if (!signal_frame && roles.link >= 0) {
    registers.Forget(roles.link);
  }
  registers.Set(roles.program_counter,
                StripReturnAddress(state, return_address));
  caller->kind = signal_frame ? FrameKind::kInterrupted : FrameKind::kReturn;
  caller->trust = FrameTrust::kCfi;
}

// Fills `rule` when the row has that form.
bool Compile(const WalkState& state,
             const CfiEntry& entry,
             const CfiRow& row,
             uint64_t lookup_address,
             CompiledRule* rule) {
  const Abi abi = AbiOf(state.input->registers->architecture);
  if (row.cfa_rule != CfaRule::kRegisterOffset || entry.signal_frame ||
      entry.return_register >= static_cast<uint64_t>(abi.registers)) {
    return false;
  }
  *rule = {};
  rule->lookup_address = lookup_address;
  rule->cfa_register = row.cfa_register;
  rule->cfa_offset = row.cfa_value;
  rule->return_register = static_cast<uint8_t>(entry.return_register);
  const RegisterRule returns = row.rule[entry.return_register];
  rule->outermost = returns == RegisterRule::kUndefined;
  if (!rule->outermost && returns != RegisterRule::kOffset) {
    return false;
  }
  int32_t highest = 0;
  for (int i = 0; i < abi.registers; ++i) {
    if (i == state.roles.stack_pointer &&
        row.rule[i] != RegisterRule::kUnspecified) {
      return false;
    }
    switch (row.rule[i]) {
      case RegisterRule::kUnspecified:
        rule->kept |= abi.callee_saved & uint64_t{1} << i;
        break;
      case RegisterRule::kSameValue:
        rule->kept |= uint64_t{1} << i;
        break;
      case RegisterRule::kUndefined:
        break;
      case RegisterRule::kOffset:
        if (rule->saved_count == kMaxSavedRegisters) {
          return false;
        }
        if (rule->saved_count == 0 || row.value[i] < rule->lowest_offset) {
          rule->lowest_offset = row.value[i];
        }
        if (rule->saved_count == 0 || row.value[i] > highest) {
          highest = row.value[i];
        }
        rule->saved_register[rule->saved_count] = static_cast<uint8_t>(i);
        rule->saved_offset[rule->saved_count++] = row.value[i];
        break;
      default:
        return false;
    }
  }
  const int64_t span = int64_t{highest} - rule->lowest_offset +
                       int64_t{state.roles.pointer_bytes};
  rule->span = span <= kMaxSavedSpan ? static_cast<int32_t>(span) : 0;
  return rule->span > 0;
}

StepResult ApplyCompiled(const WalkState& state,
                         const CompiledRule& rule,
                         const FrameState& frame,
                         FrameState* caller) {
  if (rule.outermost) {
    return StepResult::kEnd;
  }
  if (!frame.registers.Has(rule.cfa_register)) {
    return StepResult::kNoRule;
  }
  const uint64_t cfa =
      Moved(state, frame.registers.values[rule.cfa_register], rule.cfa_offset);
  uint8_t saved[kMaxSavedSpan];
  if (!state.input->stack_memory.Read(Moved(state, cfa, rule.lowest_offset),
                                      saved,
                                      static_cast<size_t>(rule.span))) {
    return StepResult::kUnreadable;
  }
  caller->registers = frame.registers;
  caller->registers.valid &= rule.kept;
  uint64_t return_address = 0;
  for (size_t i = 0; i < rule.saved_count; ++i) {
    uint64_t value = 0;
    safe::Copy(&value,
               saved + (rule.saved_offset[i] - rule.lowest_offset),
               static_cast<size_t>(state.roles.pointer_bytes));
    if (rule.saved_register[i] == rule.return_register) {
      return_address = value;
    }
    caller->registers.Set(rule.saved_register[i], value);
  }
  Finish(state, cfa, return_address, false, caller);
  return StepResult::kCaller;
}

// The expression whose length stands at `place` behind the FDE's start.
bool Evaluate(const WalkState& state,
              const FoundEntry& found,
              const FrameState& frame,
              int32_t place,
              const uint64_t* first,
              uint64_t* result) {
  const uint64_t at = found.entry.fde + static_cast<uint64_t>(int64_t{place});
  ByteReader bytes(found.memory, at, at + 16);
  const uint64_t length = bytes.Uleb();
  if (!bytes.ok()) {
    return false;
  }
  return EvaluateExpression({found.memory,
                             state.input->stack_memory,
                             &frame.registers,
                             bytes.address(),
                             length,
                             first != nullptr,
                             first != nullptr ? *first : 0},
                            result);
}

// Sets register `i` of `caller` by its rule. False: memory cannot be read, or a
// register that it needs is not known.
bool ApplyRegister(const WalkState& state,
                   const FoundEntry& found,
                   const CfiRow& row,
                   const FrameState& frame,
                   uint64_t cfa,
                   int i,
                   FrameState* caller) {
  const int32_t operand = row.value[i];
  uint64_t value = 0;
  switch (row.rule[i]) {
    case RegisterRule::kUnspecified:
    case RegisterRule::kUndefined:
    case RegisterRule::kSameValue:
      return true;  // done before
    case RegisterRule::kOffset:
      if (!ReadStackPointer(state, Moved(state, cfa, operand), &value)) {
        return false;
      }
      break;
    case RegisterRule::kValueOffset:
      value = Moved(state, cfa, operand);
      break;
    case RegisterRule::kRegister:
      if (!frame.registers.Has(operand)) {
        caller->registers.Forget(i);
        return true;
      }
      value = frame.registers.values[operand];
      break;
    case RegisterRule::kExpression:
      if (!Evaluate(state, found, frame, operand, &cfa, &value) ||
          !ReadStackPointer(state, value, &value)) {
        return false;
      }
      break;
    case RegisterRule::kValueExpression:
      if (!Evaluate(state, found, frame, operand, &cfa, &value)) {
        return false;
      }
      break;
  }
  caller->registers.Set(i, value);
  return true;
}

bool FindCfa(const WalkState& state,
             const FoundEntry& found,
             const CfiRow& row,
             const FrameState& frame,
             uint64_t* cfa) {
  if (row.cfa_rule == CfaRule::kExpression) {
    return Evaluate(state, found, frame, row.cfa_value, nullptr, cfa);
  }
  *cfa = Moved(state, frame.registers.values[row.cfa_register], row.cfa_value);
  return frame.registers.Has(row.cfa_register);
}

// The registers that stay as they are: callee-saved ones without a rule, all
// with "same value", and all without a rule where a signal interrupted.
uint64_t KeptRegisters(const Abi& abi,
                       const CfiEntry& entry,
                       const CfiRow& row) {
  uint64_t kept = 0;
  for (int i = 0; i < abi.registers; ++i) {
    const bool is_unspecified = row.rule[i] == RegisterRule::kUnspecified;
    if (row.rule[i] == RegisterRule::kSameValue ||
        (is_unspecified &&
         (entry.signal_frame || (abi.callee_saved >> i & 1) != 0))) {
      kept |= uint64_t{1} << i;
    }
  }
  return kept;
}

StepResult ApplyRow(const WalkState& state,
                    const FoundEntry& found,
                    const CfiRow& row,
                    const FrameState& frame,
                    FrameState* caller) {
  const CfiEntry& entry = found.entry;
  const Abi abi = AbiOf(frame.registers.architecture);
  const auto column = static_cast<int>(entry.return_register);
  if (entry.return_register >= static_cast<uint64_t>(abi.registers)) {
    return StepResult::kNoRule;
  }
  if (row.rule[column] == RegisterRule::kUndefined) {
    return StepResult::kEnd;
  }
  uint64_t cfa = 0;
  if (!FindCfa(state, found, row, frame, &cfa)) {
    return StepResult::kNoRule;
  }
  Registers& registers = caller->registers;
  registers = frame.registers;
  registers.valid &= KeptRegisters(abi, entry, row);
  registers.Forget(state.roles.stack_pointer);
  // A leaf keeps its return address in the link register.
  if (row.rule[column] == RegisterRule::kUnspecified &&
      column == state.roles.link && frame.registers.Has(column)) {
    registers.Set(column, frame.registers.values[column]);
  }
  for (int i = 0; i < abi.registers; ++i) {
    if (!ApplyRegister(state, found, row, frame, cfa, i, caller)) {
      return StepResult::kUnreadable;
    }
  }
  // Without a rule for it, a program counter stays where it is: no rule at all.
  if (!registers.Has(column) ||
      (column == state.roles.program_counter &&
       row.rule[column] <= RegisterRule::kSameValue)) {
    return StepResult::kNoRule;
  }
  Finish(state, cfa, registers.values[column], entry.signal_frame, caller);
  return StepResult::kCaller;
}

// Looks `address` up in what is loaded of its image, then in what was handed
// in.
bool FindEntry(WalkState* state, uint64_t address, FoundEntry* found) {
  const WalkInput& input = *state->input;
  const int width = state->roles.pointer_bytes;
  const uint32_t index = input.images->Find(address);
  if (index == kNoImage || input.images->at(index).unloaded != 0) {
    return false;
  }
  const Image& image = input.images->at(index);
  const CfiTables tables = {image.eh_frame_hdr,
                            image.eh_frame_hdr_bytes,
                            image.eh_frame,
                            image.eh_frame_bytes};
  found->memory = input.memory;
  found->address = address;
  if (FindCfi(input.memory,
              tables,
              address,
              width,
              &state->linear_budget,
              &found->entry) == CfiLookup::kFound) {
    return true;
  }
  found->address = address - image.link_bias;
  for (size_t i = 0; i < input.debug_frame_count; ++i) {
    const ImageDebugFrames& debug = input.debug_frames[i];
    if (debug.image == index &&
        FindDebugFrame(*debug.frames,
                       found->address,
                       width,
                       &state->linear_budget,
                       &found->entry) == CfiLookup::kFound) {
      found->memory = debug.frames->memory;
      return true;
    }
  }
  return false;
}

// Steps by the tables of the image that holds `address`; a rule that compiles
// is kept. `only_begin`: the entry must begin there.
StepResult StepByTables(WalkState* state,
                        const FrameState& frame,
                        uint64_t address,
                        bool only_begin,
                        FrameState* caller) {
  FoundEntry found;
  CfiRow row;
  if (!FindEntry(state, address, &found) ||
      (only_begin && found.entry.begin != found.address) ||
      !RunCfiProgram(found.memory,
                     found.entry,
                     found.address,
                     state->roles.pointer_bytes,
                     &row)) {
    return StepResult::kNoRule;
  }
  CompiledRule rule;
  if (!Compile(*state, found.entry, row, address, &rule)) {
    return ApplyRow(*state, found, row, frame, caller);
  }
  if (!only_begin) {
    state->AddRule(rule);
  }
  return ApplyCompiled(*state, rule, frame, caller);
}

}  // namespace

size_t RuleCacheBytes() {
  return sizeof(RuleCache);
}

// Folklore: a return address at the very first byte of a function was pushed by
// hand, and the byte before it may belong to nobody (glibc's __start_context,
// under each coroutine of makecontext). What its own rule then finds is often
// no return address: the stack ends there. Test: SelfWalk.Coroutine….
StepResult StepByCfi(WalkState* state,
                     const FrameState& frame,
                     FrameState* caller) {
  const uint64_t address = frame.LookupAddress();
  if (const CompiledRule* rule = state->FindRule(address)) {
    return ApplyCompiled(*state, *rule, frame, caller);
  }
  const StepResult result = StepByTables(state, frame, address, false, caller);
  if (result != StepResult::kNoRule || frame.kind != FrameKind::kReturn) {
    return result;
  }
  const StepResult begin =
      StepByTables(state, frame, address + 1, true, caller);
  return begin == StepResult::kCaller &&
                 !IsReturnAddress(*state, ProgramCounter(caller->registers))
             ? StepResult::kMaybeEnd
             : begin;
}

}  // namespace cairn::capture
