// SPDX-License-Identifier: Apache-2.0
//
// The encoding is that of the Intel manual, volume 2, chapter 2:
// prefixes · REX, VEX or EVEX · opcode of one of four maps · ModRM · SIB ·
// displacement · immediate.
#include "capture/faulting_operand.h"

namespace cairn::capture {
namespace {

constexpr int kMostBytes = 15;
constexpr int kRsi = 4, kRdi = 5, kRsp = 7, kRip = 16;  // psABI numbers

struct Instruction {
  uint8_t bytes[kMostBytes];
  int count = 0;
  int at = 0;
  // Decoded:
  uint8_t rex = 0;      // W R X B in the low four bits
  uint8_t segment = 0;  // 0x64, 0x65 or 0
  bool operand16 = false;
  bool address32 = false;
  bool vector = false;  // VEX or EVEX
  bool scaled = false;  // EVEX: an 8-bit displacement counts in vectors
  int map = 0;          // 0: one byte, 1: 0F, 2: 0F 38, 3: 0F 3A
  uint8_t opcode = 0;
  uint8_t mod = 0, reg = 0, rm = 0;

  bool Next(uint8_t* out) {
    if (at >= count) {
      return false;
    }
    *out = bytes[at++];
    return true;
  }
};

bool IsCanonical(uint64_t address) {
  const uint64_t high = address >> 47;
  return high == 0 || high == 0x1ffff;
}

// Number of a register as instructions have it → as the psABI has it.
uint64_t General(const Registers& registers, int encoded) {
  static constexpr uint8_t kPsAbi[16] = {
      0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
  return registers.values[kPsAbi[encoded & 15]];
}

bool ReadPrefixes(Instruction* code) {
  uint8_t byte = 0;
  for (int i = 0; i < kMostBytes && code->Next(&byte); ++i) {
    if (byte == 0x66) {
      code->operand16 = true;
    } else if (byte == 0x67) {
      code->address32 = true;
    } else if (byte == 0x64 || byte == 0x65) {
      code->segment = byte;
    } else if (byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
               byte == 0x36 || byte == 0x3e || byte == 0x26) {
      continue;
    } else {
      --code->at;
      return true;
    }
  }
  return false;
}

// C5: R.vvvv.L.pp; C4: RXB.mmmmm W.vvvv.L.pp; 62: RXB.R'.0.mmm and two more.
// R, X and B are inverted.
bool ReadVectorPrefix(uint8_t first, Instruction* code) {
  uint8_t one = 0, two = 0, three = 0;
  code->vector = true;
  if (!code->Next(&one)) {
    return false;
  }
  if (first == 0xc5) {
    code->rex = static_cast<uint8_t>((~one >> 7 & 1) << 2);
    code->map = 1;
    return code->Next(&code->opcode);
  }
  code->rex = static_cast<uint8_t>(~one >> 5 & 7);
  code->map = one & (first == 0xc4 ? 0x1f : 7);
  if (!code->Next(&two) || (first == 0x62 && !code->Next(&three))) {
    return false;
  }
  code->scaled = first == 0x62;
  return code->map >= 1 && code->map <= 3 && code->Next(&code->opcode);
}

bool ReadOpcode(Instruction* code) {
  uint8_t byte = 0;
  if (!ReadPrefixes(code) || !code->Next(&byte)) {
    return false;
  }
  if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
    return ReadVectorPrefix(byte, code);
  }
  if ((byte & 0xf0) == 0x40) {
    code->rex = byte & 15;
    if (!code->Next(&byte)) {
      return false;
    }
  }
  if (byte != 0x0f) {
    code->opcode = byte;
    return true;
  }
  code->map = 1;
  if (!code->Next(&byte)) {
    return false;
  }
  if (byte == 0x38 || byte == 0x3a) {
    code->map = byte == 0x38 ? 2 : 3;
    return code->Next(&code->opcode);
  }
  code->opcode = byte;
  return true;
}

bool HasModRm(const Instruction& code) {
  const uint8_t op = code.opcode;
  if (code.map >= 2) {
    return true;
  }
  if (code.map == 1) {
    return code.vector
               ? op != 0x77
               : !(op == 0x05 || (op >= 0x06 && op <= 0x0b) ||
                   (op >= 0x30 && op <= 0x37) || op == 0x77 ||
                   (op >= 0x80 && op <= 0x8f) || (op >= 0xa0 && op <= 0xa2) ||
                   (op >= 0xa8 && op <= 0xaa) || (op >= 0xc8 && op <= 0xcf) ||
                   op == 0x0e);
  }
  return (op < 0x40 && (op & 7) < 4) || op == 0x63 || op == 0x69 ||
         op == 0x6b || (op >= 0x80 && op <= 0x8f) || op == 0xc0 || op == 0xc1 ||
         op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
         (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 || op == 0xfe ||
         op == 0xff;
}

// Bytes behind the displacement; they matter where that counts from the end.
int ImmediateBytes(const Instruction& code) {
  const uint8_t op = code.opcode;
  const int full = code.operand16 ? 2 : 4;
  if (code.map == 3) {
    return 1;
  }
  if (code.map == 2) {
    return 0;
  }
  if (code.map == 1) {
    return (op >= 0x70 && op <= 0x73) || op == 0xc2 ||
                   (op >= 0xc4 && op <= 0xc6) || op == 0xa4 || op == 0xac ||
                   op == 0xba
               ? 1
               : 0;
  }
  if (op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 || op == 0xc6 ||
      op == 0x6b || (op == 0xf6 && code.reg < 2)) {
    return 1;
  }
  return op == 0x81 || op == 0x69 || op == 0xc7 || (op == 0xf7 && code.reg < 2)
             ? full
             : 0;
}

bool ReadDisplacement(int bytes, Instruction* code, int64_t* out) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    uint8_t byte = 0;
    if (!code->Next(&byte)) {
      return false;
    }
    value |= static_cast<uint32_t>(byte) << (8 * i);
  }
  *out = bytes == 1 ? static_cast<int8_t>(value)
                    : static_cast<int64_t>(static_cast<int32_t>(value));
  return true;
}

// base + index × scale, without the displacement; `base_bytes` is how long that
// is by the SIB byte itself.
bool ReadSib(const Registers& registers,
             Instruction* code,
             uint64_t* sum,
             int* displacement_bytes) {
  uint8_t sib = 0;
  if (!code->Next(&sib)) {
    return false;
  }
  const int index = (sib >> 3 & 7) | (code->rex & 2) << 2;
  const int base = (sib & 7) | (code->rex & 1) << 3;
  if (index != 4) {
    *sum += General(registers, index) << (sib >> 6);
  }
  if ((base & 7) == 5 && code->mod == 0) {
    *displacement_bytes = 4;
  } else {
    *sum += General(registers, base);
  }
  return true;
}

// The address of the ModRM operand, without a segment's base.
bool ReadOperand(const Registers& registers,
                 uint64_t pc,
                 Instruction* code,
                 uint64_t* out,
                 bool* exact) {
  uint64_t sum = 0;
  int displacement_bytes = code->mod == 1 ? 1 : code->mod == 2 ? 4 : 0;
  bool from_end = false;
  if (code->rm == 4) {
    if (!ReadSib(registers, code, &sum, &displacement_bytes)) {
      return false;
    }
  } else if (code->rm == 5 && code->mod == 0) {
    displacement_bytes = 4;
    from_end = true;
  } else {
    sum = General(registers, code->rm | (code->rex & 1) << 3);
  }
  int64_t displacement = 0;
  if (!ReadDisplacement(displacement_bytes, code, &displacement)) {
    return false;
  }
  if (from_end) {
    sum = pc + static_cast<uint64_t>(code->at + ImmediateBytes(*code));
  }
  *exact = !(code->scaled && code->mod == 1 && displacement != 0);
  *out = sum + static_cast<uint64_t>(displacement);
  if (code->address32) {
    *out = static_cast<uint32_t>(*out);
  }
  return true;
}

FaultingOperand NonCanonical(uint64_t address) {
  return {OperandFault::kNonCanonical, true, address};
}

// Neither operand at fault: an instruction that wants 16 bytes or more aligned
// raises the same.
FaultingOperand Aligned(const Instruction& code, uint64_t address, bool exact) {
  if ((code.map == 0 && !code.vector) || (address & 15) == 0) {
    return {OperandFault::kNone, false, 0};
  }
  return {OperandFault::kMisaligned, exact, address};
}

// Instructions that name no operand.
FaultingOperand Implicit(const Registers& registers,
                         const Instruction& code,
                         const safe::MemoryReader& memory) {
  const uint64_t rsi = registers.values[kRsi], rdi = registers.values[kRdi];
  const uint8_t op = code.opcode;
  uint64_t target = 0;
  if (code.map == 0 && (op == 0xc3 || op == 0xc2) &&
      memory.ReadValue(registers.values[kRsp], &target) &&
      !IsCanonical(target)) {
    return NonCanonical(target);
  }
  const bool from =
      code.map == 0 && ((op >= 0xa4 && op <= 0xa7) || op == 0xac || op == 0xad);
  const bool to = code.map == 0 && ((op >= 0xa4 && op <= 0xa7) || op == 0xaa ||
                                    op == 0xab || op == 0xae || op == 0xaf);
  const uint64_t rsp = registers.values[kRsp];
  if (!IsCanonical(rsp - 8)) {
    return NonCanonical(rsp);  // a push, call or return, or the stack's end
  }
  if (from && !IsCanonical(rsi)) {
    return NonCanonical(rsi);
  }
  if (to && !IsCanonical(rdi)) {
    return NonCanonical(rdi);
  }
  return {OperandFault::kNone, false, 0};
}

// FF /2 … /5: a target in a register, or in memory.
bool IsIndirectBranch(const Instruction& code) {
  return code.map == 0 && code.opcode == 0xff && code.reg >= 2 && code.reg <= 5;
}

bool TouchesNoMemory(const Instruction& code) {
  const bool lea = code.map == 0 && code.opcode == 0x8d;
  const bool nop = code.map == 1 && !code.vector && code.opcode >= 0x18 &&
                   code.opcode <= 0x1f;
  return lea || nop;
}

FaultingOperand WithModRm(const Registers& registers,
                          uint64_t fs_base,
                          uint64_t gs_base,
                          const safe::MemoryReader& memory,
                          Instruction* code) {
  if (code->mod == 3) {
    const uint64_t value = General(registers, code->rm | (code->rex & 1) << 3);
    return IsIndirectBranch(*code) && !IsCanonical(value)
               ? NonCanonical(value)
               : FaultingOperand{OperandFault::kNone, false, 0};
  }
  if (TouchesNoMemory(*code)) {
    return {OperandFault::kNone, false, 0};
  }
  uint64_t address = 0;
  bool exact = false;
  if (!ReadOperand(registers, registers.values[kRip], code, &address, &exact)) {
    return {OperandFault::kUnknown, false, 0};
  }
  address +=
      code->segment == 0x64 ? fs_base : (code->segment == 0x65 ? gs_base : 0);
  if (!IsCanonical(address)) {
    return {OperandFault::kNonCanonical, exact, address};
  }
  uint64_t target = 0;
  if (IsIndirectBranch(*code) && memory.ReadValue(address, &target) &&
      !IsCanonical(target)) {
    return NonCanonical(target);
  }
  return Aligned(*code, address, exact);
}

}  // namespace

FaultingOperand FindFaultingOperand(const Registers& registers,
                                    uint64_t fs_base,
                                    uint64_t gs_base,
                                    const safe::MemoryReader& memory) {
  const uint64_t pc = registers.values[kRip];
  if (!IsCanonical(pc)) {
    return NonCanonical(pc);
  }
  Instruction code;
  code.count =
      static_cast<int>(memory.ReadSome(pc, code.bytes, sizeof(code.bytes)));
  if (!ReadOpcode(&code)) {
    return {OperandFault::kUnknown, false, 0};
  }
  if (code.map == 0 && code.opcode >= 0xa0 && code.opcode <= 0xa3) {
    uint64_t address = 0;  // MOV with a whole address in the instruction
    return memory.ReadValue(pc + static_cast<uint64_t>(code.at), &address) &&
                   !IsCanonical(address)
               ? NonCanonical(address)
               : FaultingOperand{OperandFault::kUnknown, false, 0};
  }
  if (!HasModRm(code)) {
    return Implicit(registers, code, memory);
  }
  uint8_t modrm = 0;
  if (!code.Next(&modrm)) {
    return {OperandFault::kUnknown, false, 0};
  }
  code.mod = modrm >> 6;
  code.reg = modrm >> 3 & 7;
  code.rm = modrm & 7;
  return WithModRm(registers, fs_base, gs_base, memory, &code);
}

}  // namespace cairn::capture
