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

// A32 before `address`; T32 where bit 0 says so. Arm ARM (DDI 0406C), A8.8.25
// and A8.8.26.
bool IsArmCall(const safe::MemoryReader& code, uint64_t address) {
  const uint64_t end = address & ~uint64_t{1};
  uint16_t half[2] = {};
  if (end < 4 ||
      (!code.Read(end - 4, half, 4) && !code.Read(end - 2, &half[1], 2))) {
    return false;
  }
  if ((address & 1) != 0) {
    const bool relative =
        (half[0] & 0xf800) == 0xf000 && ((half[1] & 0xd000) == 0xd000 ||  // BL
                                         (half[1] & 0xd001) == 0xc000);   // BLX
    return relative || (half[1] & 0xff87) == 0x4780;  // BLX register
  }
  const uint32_t instruction = half[0] | uint32_t{half[1]} << 16;
  return ((instruction & 0x0f000000) == 0x0b000000 &&
          instruction >> 28 != 15) ||                 // BL
         (instruction & 0xfe000000) == 0xfa000000 ||  // BLX
         (instruction & 0x0ffffff0) == 0x012fff30;    // BLX register
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

// Where a stub of Mach-O or ELF at `address` leads: `adrp x, page; ldr x, [x,
// #offset]; br x`. `address` itself when there is none.
uint64_t ThroughArm64Stub(const safe::MemoryReader& code, uint64_t address) {
  uint32_t stub[3] = {};
  uint64_t target = 0;
  if (!code.Read(address, stub, sizeof(stub)) ||
      (stub[0] & 0x9f000000) != 0x90000000 ||  // ADRP
      (stub[1] & 0xffc00000) != 0xf9400000 ||  // LDR, unsigned offset
      (stub[2] & 0xfffffc1f) != 0xd61f0000) {  // BR
    return address;
  }
  const uint32_t pages = (stub[0] >> 5 & 0x7ffff) << 2 | (stub[0] >> 29 & 3);
  const uint64_t page = (address & ~uint64_t{0xfff}) +
                        Extend(static_cast<int32_t>(pages << 11) >> 11) * 4096;
  const uint64_t slot = page + (stub[1] >> 10 & 0xfff) * 8;
  return code.ReadValue(slot, &target) ? target : address;
}

uint64_t Arm64Called(const safe::MemoryReader& code, uint64_t address) {
  uint32_t instruction = 0;
  if ((address & 3) != 0 || address < 4 ||
      !code.ReadValue(address - 4, &instruction) ||
      (instruction & 0xfc000000) != 0x94000000) {  // BL
    return 0;
  }
  const auto words = static_cast<int32_t>(instruction << 6) >> 6;
  return ThroughArm64Stub(code, address - 4 + Extend(words) * 4);
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
  if (architecture == Architecture::kArm) {
    return IsArmCall(code, address);
  }
  uint32_t instruction = 0;
  return architecture == Architecture::kArm64 && (address & 3) == 0 &&
         address >= 4 && code.ReadValue(address - 4, &instruction) &&
         IsArm64Call(instruction);
}

uint64_t CalledAddress(const safe::MemoryReader& code,
                       Architecture architecture,
                       uint64_t address) {
  if (architecture == Architecture::kArm64) {
    return Arm64Called(code, address);
  }
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
