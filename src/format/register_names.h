// SPDX-License-Identifier: Apache-2.0
//
// The order in which registers stand in reports and in `Registers`.
//
// The first entries of each list follow the DWARF numbering of its ABI, so a
// DWARF register number is an index: System V x86-64 psABI table 3.36, i386
// psABI table 2.14, "DWARF for the Arm 64-bit Architecture" and "… Arm
// Architecture". The rest has no DWARF number that matters to unwinding.
//
// Crash time: yes.
#ifndef CAIRN_FORMAT_REGISTER_NAMES_H_
#define CAIRN_FORMAT_REGISTER_NAMES_H_

#include <cstddef>

#include "format/report_format.h"

namespace cairn::format {

inline constexpr size_t kMaxRegisters = 40;

inline constexpr const char* kRegisterNamesX86_64[] = {
    "rax", "rdx",    "rcx", "rbx", "rsi",     "rdi",    "rbp", "rsp",
    "r8",  "r9",     "r10", "r11", "r12",     "r13",    "r14", "r15",
    "rip", "rflags", "cs",  "ss",  "fs_base", "gs_base"};
inline constexpr const char* kRegisterNamesI386[] = {"eax",
                                                     "ecx",
                                                     "edx",
                                                     "ebx",
                                                     "esp",
                                                     "ebp",
                                                     "esi",
                                                     "edi",
                                                     "eip",
                                                     "eflags",
                                                     "cs",
                                                     "ss",
                                                     "ds",
                                                     "es",
                                                     "fs",
                                                     "gs"};
inline constexpr const char* kRegisterNamesArm64[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",    "x7",  "x8",
    "x9",  "x10", "x11", "x12", "x13", "x14", "x15",   "x16", "x17",
    "x18", "x19", "x20", "x21", "x22", "x23", "x24",   "x25", "x26",
    "x27", "x28", "fp",  "lr",  "sp",  "pc",  "pstate"};
inline constexpr const char* kRegisterNamesArm[] = {"r0",
                                                    "r1",
                                                    "r2",
                                                    "r3",
                                                    "r4",
                                                    "r5",
                                                    "r6",
                                                    "r7",
                                                    "r8",
                                                    "r9",
                                                    "r10",
                                                    "r11",
                                                    "r12",
                                                    "sp",
                                                    "lr",
                                                    "pc",
                                                    "cpsr"};

struct RegisterNames {
  const char* const* names;
  size_t count;
};

// The names for an architecture; count 0 when it is unknown.
constexpr RegisterNames RegisterNamesOf(Architecture architecture) {
  switch (architecture) {
    case Architecture::kX86_64:
      return {kRegisterNamesX86_64,
              sizeof(kRegisterNamesX86_64) / sizeof(char*)};
    case Architecture::kI386:
      return {kRegisterNamesI386, sizeof(kRegisterNamesI386) / sizeof(char*)};
    case Architecture::kArm64:
      return {kRegisterNamesArm64, sizeof(kRegisterNamesArm64) / sizeof(char*)};
    case Architecture::kArm:
      return {kRegisterNamesArm, sizeof(kRegisterNamesArm) / sizeof(char*)};
    case Architecture::kUnknown:
      break;
  }
  return {nullptr, 0};
}

}  // namespace cairn::format

#endif  // CAIRN_FORMAT_REGISTER_NAMES_H_
