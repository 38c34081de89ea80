// SPDX-License-Identifier: Apache-2.0
//
// The numbers of the ELF specification that are used here, and little-endian
// reads of raw bytes. Own definitions: <elf.h> is not on every host that reads
// ELF.
#ifndef CAIRN_SYMBOLICATE_ELF_FORMAT_H_
#define CAIRN_SYMBOLICATE_ELF_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace cairn::symbolicate::elf {

inline constexpr uint8_t kClass32 = 1, kClass64 = 2;
inline constexpr uint8_t kLittleEndianData = 1, kBigEndianData = 2;
inline constexpr uint16_t kTypeExecutable = 2, kTypeShared = 3;
inline constexpr uint16_t kMachineArm = 40, kMachineX86_64 = 62;

inline constexpr uint32_t kSegmentLoad = 1, kSegmentNote = 4;
inline constexpr uint32_t kSegmentExecute = 1;

inline constexpr uint32_t kSectionSymbols = 2, kSectionRela = 4;
inline constexpr uint32_t kSectionNote = 7, kSectionNoBits = 8;
inline constexpr uint32_t kSectionDynamicSymbols = 11;
inline constexpr uint64_t kFlagAlloc = 2, kFlagCode = 4,
                          kFlagCompressed = 0x800;

inline constexpr uint16_t kIndexUndefined = 0, kIndexReserved = 0xff00;
inline constexpr uint16_t kIndexExtended = 0xffff;

inline constexpr uint8_t kBindLocal = 0, kBindWeak = 2;
inline constexpr uint8_t kTypeNone = 0, kTypeFunction = 2, kTypeIndirect = 10;

inline constexpr uint32_t kNoteBuildId = 3;
inline constexpr uint32_t kRelocX86_64GlobDat = 6, kRelocX86_64JumpSlot = 7;

inline constexpr size_t kHeaderBytes32 = 52, kHeaderBytes64 = 64;
inline constexpr size_t kSegmentBytes32 = 32, kSegmentBytes64 = 56;
inline constexpr size_t kSectionBytes32 = 40, kSectionBytes64 = 64;
inline constexpr size_t kSymbolBytes32 = 16, kSymbolBytes64 = 24;
inline constexpr size_t kRelaBytes64 = 24;

inline uint16_t Load16(const uint8_t* at) {
  return static_cast<uint16_t>(at[0] | at[1] << 8);
}
inline uint32_t Load32(const uint8_t* at) {
  return Load16(at) | static_cast<uint32_t>(Load16(at + 2)) << 16;
}
inline uint64_t Load64(const uint8_t* at) {
  return Load32(at) | static_cast<uint64_t>(Load32(at + 4)) << 32;
}

}  // namespace cairn::symbolicate::elf

#endif  // CAIRN_SYMBOLICATE_ELF_FORMAT_H_
