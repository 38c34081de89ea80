// SPDX-License-Identifier: Apache-2.0
//
// Runs call frame instructions (DWARF 5 section 6.4.2) up to one code address:
// the row that tells how to find the caller's registers there.
//
// Crash time: yes. Any thread. At most kMaxCfiInstructions steps and
// kMaxRememberedStates remembered states.
#ifndef CAIRN_CAPTURE_CFI_PROGRAM_H_
#define CAIRN_CAPTURE_CFI_PROGRAM_H_

#include <cstdint>

#include "capture/cfi_table.h"
#include "format/register_names.h"
#include "safe/memory_reader.h"

namespace cairn::capture {

inline constexpr int kMaxCfiInstructions = 20000;
inline constexpr int kMaxRememberedStates = 6;

enum class RegisterRule : uint8_t {
  kUnspecified,     // whatever the ABI says
  kUndefined,       // lost
  kSameValue,       // unchanged
  kOffset,          // at CFA + value
  kValueOffset,     // is CFA + value
  kRegister,        // in register `value`
  kExpression,      // at the address that an expression gives
  kValueExpression  // is what an expression gives
};

enum class CfaRule : uint8_t { kNone, kRegisterOffset, kExpression };

// Values are 32 bits wide, so that a row stays small: a program with larger
// ones is refused. An expression's value is where its length stands, relative
// to `CfiEntry::fde`.
struct CfiRow {
  CfaRule cfa_rule;
  uint8_t cfa_register;
  bool return_address_signed;  // arm64: DW_CFA_AARCH64_negate_ra_state
  int32_t cfa_value;           // offset, or place of the expression
  RegisterRule rule[format::kMaxRegisters];
  int32_t value[format::kMaxRegisters];
};

// False: an unknown instruction, a value out of range, or over the bounds.
// Rules for registers beyond kMaxRegisters are read and dropped.
bool RunCfiProgram(const safe::MemoryReader& memory,
                   const CfiEntry& entry,
                   uint64_t address,
                   int pointer_bytes,
                   CfiRow* row);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_CFI_PROGRAM_H_
