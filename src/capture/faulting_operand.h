// SPDX-License-Identifier: Apache-2.0
//
// Which address an x86-64 instruction was about to use, where the processor
// does not say: a general-protection fault carries none. The instruction is
// decoded as far as its memory operand, which is computed from the registers.
//
// Crash time: yes. Any thread. Reads the instruction, and for an indirect call,
// jump or return the target, through `memory`.
#ifndef CAIRN_CAPTURE_FAULTING_OPERAND_H_
#define CAIRN_CAPTURE_FAULTING_OPERAND_H_

#include <cstdint>

#include "capture/registers.h"
#include "safe/memory_reader.h"

namespace cairn::capture {

enum class OperandFault : uint8_t {
  kUnknown,       // not decoded
  kNone,          // it uses no address that could be the reason
  kNonCanonical,  // `address` is no address at all
  kMisaligned,    // `address` is one, but not aligned as the instruction needs
};

struct FaultingOperand {
  OperandFault fault;
  bool has_address;
  uint64_t address;
};

// `fs_base` and `gs_base` are of the thread whose registers these are.
FaultingOperand FindFaultingOperand(const Registers& registers,
                                    uint64_t fs_base,
                                    uint64_t gs_base,
                                    const safe::MemoryReader& memory);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_FAULTING_OPERAND_H_
