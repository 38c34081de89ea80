// SPDX-License-Identifier: Apache-2.0
//
// Where an arm64 function has its return address at one of its instructions,
// read from its code: unwind tables of Mach-O describe the body alone, and code
// may have none.
//
// Crash time: yes. Any thread. Reads at most kMaxScannedInstructions.
#ifndef CAIRN_CAPTURE_ARM64_FRAME_H_
#define CAIRN_CAPTURE_ARM64_FRAME_H_

#include <cstdint>

#include "safe/memory_reader.h"

namespace cairn::capture {

inline constexpr uint32_t kMaxScannedInstructions = 4096;

enum class LinkPlace {
  kRegister,  // nothing stored yet, or restored already
  kStack,     // stored, and the frame pointer is still the caller's
  kRecord,    // the frame pointer names the function's own record
  kUnknown    // another function lies between, unreadable, or over the bound
};

// What the code from `start`, where a function begins, up to but not including
// `address` has done with the link register: by the order of the instructions,
// not their branches. A return or jump between is taken for the end of one path
// of the function, unless a prologue follows.
LinkPlace FindArm64Link(const safe::MemoryReader& code,
                        uint64_t start,
                        uint64_t address);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_ARM64_FRAME_H_
