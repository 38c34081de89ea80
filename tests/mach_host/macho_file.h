// SPDX-License-Identifier: Apache-2.0
//
// The parts of the Mach-O file format that the host reads and writes; names and
// values of <mach-o/loader.h> and <mach-o/nlist.h>, which layout_check.cc
// compares, and of dyld's <mach-o/fixup-chains.h>, which the toolchain does not
// carry: there the chains that ld64.lld writes are the proof.
#ifndef MACH_HOST_MACHO_FILE_H_
#define MACH_HOST_MACHO_FILE_H_

#include <cstdint>

namespace macho {

inline constexpr std::uint32_t kMagic64 = 0xfeedfacf;
inline constexpr std::int32_t kCpuX86_64 = 0x01000007;
inline constexpr std::uint32_t kSegment64 = 0x19, kSymbolTable = 0x2,
                               kUuid = 0x1b, kLoadDylib = 0xc,
                               kLoadWeakDylib = 0x80000018, kIdDylib = 0xd,
                               kMain = 0x80000028, kDyldInfo = 0x22,
                               kDyldInfoOnly = 0x80000022,
                               kChainedFixups = 0x80000034;
inline constexpr std::uint32_t kExecute = 2, kDylib = 6, kDylinker = 7;
inline constexpr std::uint32_t kModInitPointers = 0x9, kInitOffsets = 0x16,
                               kThreadLocalVariables = 0x13;

struct Header {
  std::uint32_t magic;
  std::int32_t cpu_type, cpu_subtype;
  std::uint32_t file_type, command_count, commands_size, flags, reserved;
};
struct Command {
  std::uint32_t kind, size;
};
struct SegmentCommand {
  std::uint32_t kind, command_size;
  char name[16];
  std::uint64_t address, size, file_offset, file_size;
  std::int32_t max_protection, protection;
  std::uint32_t section_count, flags;
};
struct SectionHeader {
  char name[16], segment[16];
  std::uint64_t address, size;
  std::uint32_t offset, align, relocation_offset, relocation_count, flags,
      reserved1, reserved2, reserved3;
};
struct Symbol {
  std::uint32_t string;
  std::uint8_t type, section;
  std::uint16_t description;
  std::uint64_t value;
};
struct SymbolTableCommand {
  std::uint32_t kind, size, symbols_offset, symbol_count, strings_offset,
      strings_size;
};
struct UuidCommand {
  std::uint32_t kind, size;
  std::uint8_t uuid[16];
};

struct ChainedHeader {
  std::uint32_t version, starts_offset, imports_offset, symbols_offset,
      imports_count, imports_format, symbols_format;
};
struct ChainedStarts {
  std::uint32_t size;
  std::uint16_t page_size, pointer_format;
  std::uint64_t segment_offset;
  std::uint32_t max_valid_pointer;
  std::uint16_t page_count;
};
inline constexpr std::uint16_t kPointer64 = 2, kPointer64Offset = 6,
                               kNoChain = 0xffff;
inline constexpr std::uint32_t kImport = 1, kImportAddend = 2,
                               kImportAddend64 = 3;

}  // namespace macho

#endif  // MACH_HOST_MACHO_FILE_H_
