// SPDX-License-Identifier: Apache-2.0
#include "capture/call_site.h"

#include "safe/bytes.h"

namespace cairn::capture {
namespace {

using format::Architecture;

constexpr uint8_t kCallRelative = 0xe8;
constexpr uint8_t kGroup5 = 0xff;  // FF /2 is a near call through r/m
constexpr size_t kLongestForm = 7;

// Length of an FF /2 whose ModRM (and SIB) byte follows; prefixes before FF
// change nothing. Intel SDM volume 2, tables 2-2 and 2-3. 0: not a call.
size_t IndirectCallBytes(uint8_t modrm, uint8_t sib) {
  if ((modrm >> 3 & 7) != 2) {
    return 0;
  }
  const unsigned mod = modrm >> 6;
  const unsigned rm = modrm & 7;
  if (mod == 3) {
    return 2;
  }
  const size_t base = rm == 4 ? 3 : 2;  // with SIB byte or without
  if (mod == 1) {
    return base + 1;
  }
  if (mod == 2 || (mod == 0 && rm == 5) ||
      (mod == 0 && rm == 4 && (sib & 7) == 5)) {
    return base + 4;
  }
  return base;
}

// `before` are the seven bytes before the address; of which `known` are read.
bool EndsInX86Call(const uint8_t (&before)[kLongestForm], size_t known) {
  if (known >= 5 && before[kLongestForm - 5] == kCallRelative) {
    return true;
  }
  for (size_t length = 2; length <= known; ++length) {
    const uint8_t* at = before + kLongestForm - length;
    if (at[0] == kGroup5 &&
        IndirectCallBytes(at[1], length > 2 ? at[2] : 0) == length) {
      return true;
    }
  }
  return false;
}

// Code may begin less than seven bytes before the address.
size_t ReadBefore(const safe::MemoryReader& code,
                  uint64_t address,
                  uint8_t (&before)[kLongestForm]) {
  for (size_t bytes = kLongestForm; bytes >= 2; --bytes) {
    if (address >= bytes &&
        code.Read(address - bytes, before + kLongestForm - bytes, bytes)) {
      return bytes;
    }
  }
  return 0;
}

bool IsArm64Call(uint32_t instruction) {
  return (instruction & 0xfc000000) == 0x94000000 ||  // BL
         (instruction & 0xfffffc1f) == 0xd63f0000 ||  // BLR
         (instruction & 0xfefff800) == 0xd63f0800;    // BLRAA and its kin
}

uint64_t Extend(int32_t displacement) {
  return static_cast<uint64_t>(static_cast<int64_t>(displacement));
}

// Where `jmp *disp32(%rip)` or `jmp rel32` at `address` leads, behind an endbr
// and a bnd prefix; `address` itself when there is no jump.
uint64_t ThroughJump(const safe::MemoryReader& code, uint64_t address) {
  constexpr uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  uint8_t bytes[12] = {};
  const size_t known = code.ReadSome(address, bytes, sizeof(bytes));
  size_t at = safe::Equal(bytes, kEndbr64, sizeof(kEndbr64)) ? 4 : 0;
  at += bytes[at] == 0xf2 ? 1 : 0;
  const bool direct = bytes[at] == 0xe9;
  const bool indirect = bytes[at] == 0xff && bytes[at + 1] == 0x25;
  const size_t end = at + (direct ? 5 : 6);
  if ((!direct && !indirect) || end > known) {
    return address;
  }
  int32_t displacement = 0;
  safe::Copy(&displacement, bytes + end - 4, 4);
  uint64_t target = address + end + Extend(displacement);
  if (indirect && !code.ReadValue(target, &target)) {
    return address;
  }
  return target;
}

}  // namespace

bool IsBehindCall(const safe::MemoryReader& code,
                  Architecture architecture,
                  uint64_t address) {
  if (architecture == Architecture::kX86_64 ||
      architecture == Architecture::kI386) {
    uint8_t before[kLongestForm] = {};
    const size_t known = ReadBefore(code, address, before);
    return EndsInX86Call(before, known);
  }
  uint32_t instruction = 0;
  return architecture == Architecture::kArm64 && (address & 3) == 0 &&
         address >= 4 && code.ReadValue(address - 4, &instruction) &&
         IsArm64Call(instruction);
}

uint64_t CalledAddress(const safe::MemoryReader& code,
                       Architecture architecture,
                       uint64_t address) {
  if (architecture != Architecture::kX86_64 || address < 6) {
    return 0;
  }
  uint8_t before[6];
  int32_t displacement = 0;
  if (!code.Read(address - 6, before, sizeof(before))) {
    return 0;
  }
  safe::Copy(&displacement, before + 2, 4);
  const uint64_t target = address + Extend(displacement);
  if (before[1] == kCallRelative) {
    return ThroughJump(code, target);
  }
  uint64_t slot = 0;
  return before[0] == kGroup5 && before[1] == 0x15 &&
                 code.ReadValue(target, &slot)
             ? slot
             : 0;
}

}  // namespace cairn::capture
