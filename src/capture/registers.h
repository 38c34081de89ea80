// SPDX-License-Identifier: Apache-2.0
//
// A thread's registers, for any architecture, as data.
//
// Crash time: yes.
#ifndef CAIRN_CAPTURE_REGISTERS_H_
#define CAIRN_CAPTURE_REGISTERS_H_

#include <cstdint>

#include "format/register_names.h"
#include "format/report_format.h"

namespace cairn::capture {

// Values stand in the order of format/register_names.h; that index is the DWARF
// register number for every register that unwinding can name.
struct Registers {
  format::Architecture architecture;
  uint64_t valid;  // bit i: values[i] is known
  uint64_t values[format::kMaxRegisters];

  bool Has(int index) const { return index >= 0 && (valid >> index & 1) != 0; }
  void Set(int index, uint64_t value) {
    values[index] = value;
    valid |= uint64_t{1} << index;
  }
  void Forget(int index) { valid &= ~(uint64_t{1} << index); }
};

// Where the four registers with a role stand; link is -1 where there is none.
struct RegisterRoles {
  int program_counter;
  int link;
  int frame_pointer;
  int stack_pointer;
  int pointer_bytes;
};

constexpr RegisterRoles RolesOf(format::Architecture architecture) {
  switch (architecture) {
    case format::Architecture::kX86_64:
      return {16, -1, 6, 7, 8};
    case format::Architecture::kI386:
      return {8, -1, 5, 4, 4};
    case format::Architecture::kArm64:
      return {32, 30, 29, 31, 8};
    case format::Architecture::kArm:
      return {15, 14, 11, 13, 4};
    case format::Architecture::kUnknown:
      break;
  }
  return {-1, -1, -1, -1, 8};
}

// 0 when unknown; test Has() where that matters.
inline uint64_t ProgramCounter(const Registers& r) {
  const int index = RolesOf(r.architecture).program_counter;
  return r.Has(index) ? r.values[index] : 0;
}
inline uint64_t StackPointer(const Registers& r) {
  const int index = RolesOf(r.architecture).stack_pointer;
  return r.Has(index) ? r.values[index] : 0;
}
inline uint64_t FramePointer(const Registers& r) {
  const int index = RolesOf(r.architecture).frame_pointer;
  return r.Has(index) ? r.values[index] : 0;
}
inline uint64_t LinkRegister(const Registers& r) {
  const int index = RolesOf(r.architecture).link;
  return r.Has(index) ? r.values[index] : 0;
}

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_REGISTERS_H_
