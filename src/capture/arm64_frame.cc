// SPDX-License-Identifier: Apache-2.0
//
// Encodings: Arm Architecture Reference Manual (DDI 0487), C4.1.
#include "capture/arm64_frame.h"

namespace cairn::capture {
namespace {

constexpr uint32_t kStackPointer = 31, kLink = 30;
constexpr size_t kAtOnce = 64;

uint32_t Low(uint32_t instruction) {
  return instruction & 31;
}
uint32_t Base(uint32_t instruction) {
  return instruction >> 5 & 31;
}
uint32_t Second(uint32_t instruction) {
  return instruction >> 10 & 31;
}

// A pair of 64-bit registers, one of them the link register, on the stack.
// Bits 24 and 23 tell the addressing: 01 post, 10 offset, 11 pre.
bool IsPairWithLink(uint32_t instruction) {
  return (instruction & 0xfe000000) == 0xa8000000 &&
         (instruction & 0x01800000) != 0 &&
         Base(instruction) == kStackPointer &&
         (Low(instruction) == kLink || Second(instruction) == kLink);
}

// The link register alone: unsigned offset, or pre- and post-index.
bool IsSingleLink(uint32_t instruction) {
  const bool form = (instruction & 0xff800000) == 0xf9000000 ||
                    ((instruction & 0xff800000) == 0xf8000000 &&
                     (instruction & 0x00200400) == 0x00000400);
  return form && Base(instruction) == kStackPointer &&
         Low(instruction) == kLink;
}

bool StoresLink(uint32_t instruction) {
  return (instruction & 0x00400000) == 0 &&
         (IsPairWithLink(instruction) || IsSingleLink(instruction));
}
bool LoadsLink(uint32_t instruction) {
  return (instruction & 0x00400000) != 0 &&
         (IsPairWithLink(instruction) || IsSingleLink(instruction));
}
// add x29, sp, #n; mov x29, sp is the same with 0.
bool SetsFramePointer(uint32_t instruction) {
  return (instruction & 0xff8003ff) == 0x910003fd;
}
// Nothing runs on behind it: ret, b, br, brk, and those with a signature.
bool EndsPath(uint32_t instruction) {
  return (instruction & 0xfffff3ff) == 0xd65f03c0 ||  // RET
         (instruction & 0xfffffbff) == 0xd65f0bff ||  // RETAA, RETAB
         (instruction & 0xfc000000) == 0x14000000 ||  // B
         (instruction & 0xfefff000) == 0xd61f0000 ||  // BR, BRAA and its kin
         (instruction & 0xffe0001f) == 0xd4200000;    // BRK
}

}  // namespace

LinkPlace FindArm64Link(const safe::MemoryReader& code,
                        uint64_t start,
                        uint64_t address) {
  const uint64_t count = (address - start) / 4;
  if (address < start || count > kMaxScannedInstructions ||
      ((start | address) & 3) != 0) {
    return LinkPlace::kUnknown;
  }
  LinkPlace place = LinkPlace::kRegister;
  bool ended = false;
  bool restored = false;
  uint32_t window[kAtOnce];
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = i % kAtOnce;
    if (at == 0) {
      const uint64_t left = count - i;
      const size_t bytes = (left < kAtOnce ? left : kAtOnce) * 4;
      if (!code.Read(start + i * 4, window, bytes)) {
        return LinkPlace::kUnknown;
      }
    }
    const uint32_t instruction = window[at];
    const bool stores = StoresLink(instruction);
    if (ended && (stores || SetsFramePointer(instruction))) {
      return LinkPlace::kUnknown;  // the prologue of the next function
    }
    if (stores) {
      place = LinkPlace::kStack;
    } else if (SetsFramePointer(instruction)) {
      place = LinkPlace::kRecord;
    } else if (LoadsLink(instruction)) {
      restored = true;
    } else if (EndsPath(instruction)) {
      ended = true;
      restored = false;
    }
  }
  return restored ? LinkPlace::kRegister : place;
}

}  // namespace cairn::capture
