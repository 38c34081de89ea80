// SPDX-License-Identifier: Apache-2.0
//
// Evaluates DWARF expressions as call frame information uses them (DWARF 5
// section 2.5 and 6.4.2): a stack of at most 32 values, at most 512 steps.
//
// Crash time: yes. Any thread.
#ifndef CAIRN_CAPTURE_CFI_EXPRESSION_H_
#define CAIRN_CAPTURE_CFI_EXPRESSION_H_

#include <cstdint>

#include "capture/registers.h"
#include "safe/memory_reader.h"

namespace cairn::capture {

struct ExpressionInput {
  safe::MemoryReader code;   // where the expression's bytes are
  safe::MemoryReader stack;  // what DW_OP_deref reads first, then `code`
  const Registers* registers;
  uint64_t address;  // of the first operation
  uint64_t bytes;
  bool has_first;  // the CFA lies on the stack at first
  uint64_t first;
};

// False: unreadable, malformed, an operation that has no place in call frame
// information, a register that is not known, or over the bounds.
bool EvaluateExpression(const ExpressionInput& input, uint64_t* result);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_CFI_EXPRESSION_H_
