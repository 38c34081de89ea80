// SPDX-License-Identifier: Apache-2.0
//
// The numbers and structures of Apple's Mach-O format that are used here. Own
// definitions: <mach-o/loader.h> is not on every host that reads Mach-O. Field
// names and values are those of Apple's headers (mach-o/loader.h, nlist.h,
// fat.h, mach/machine.h). Little-endian, as all living Apple systems are.
//
// Crash time: yes.
#ifndef CAIRN_FORMAT_MACHO_FORMAT_H_
#define CAIRN_FORMAT_MACHO_FORMAT_H_

#include <cstddef>
#include <cstdint>

#include "format/report_format.h"

namespace cairn::format::macho {

inline constexpr uint32_t kMagic32 = 0xfeedface, kMagic64 = 0xfeedfacf;
// The same, of the other byte order.
inline constexpr uint32_t kSwappedMagic32 = 0xcefaedfe,
                          kSwappedMagic64 = 0xcffaedfe;
// A file of several architectures; its own header is always big-endian.
inline constexpr uint32_t kFatMagic32 = 0xcafebabe, kFatMagic64 = 0xcafebabf;

inline constexpr uint32_t kCpuI386 = 7, kCpuX86_64 = 0x01000007;
inline constexpr uint32_t kCpuArm = 12, kCpuArm64 = 0x0100000c;
inline constexpr uint32_t kCpuArm64On32 = 0x0200000c;
// Flags (the upper byte) say nothing about the instructions.
inline constexpr uint32_t kSubtypeMask = 0x00ffffff;
inline constexpr uint32_t kSubtypeX86All = 3, kSubtypeX86_64H = 8;
inline constexpr uint32_t kSubtypeArmV7 = 9, kSubtypeArmV7S = 11,
                          kSubtypeArmV7K = 12;
inline constexpr uint32_t kSubtypeArm64All = 0, kSubtypeArm64E = 2;

inline constexpr uint32_t kFileObject = 1, kFileExecute = 2, kFileDylib = 6;
inline constexpr uint32_t kFileDylinker = 7, kFileBundle = 8, kFileDsym = 10;
inline constexpr uint32_t kFlagInSharedCache = 0x80000000;

inline constexpr uint32_t kRequiredByDyld = 0x80000000;
inline constexpr uint32_t kCommandSegment32 = 0x1, kCommandSymtab = 0x2;
inline constexpr uint32_t kCommandIdDylib = 0xd, kCommandSegment64 = 0x19;
inline constexpr uint32_t kCommandUuid = 0x1b;
inline constexpr uint32_t kCommandDyldInfo = 0x22;
inline constexpr uint32_t kCommandDyldInfoOnly = 0x22 | kRequiredByDyld;
inline constexpr uint32_t kCommandFunctionStarts = 0x26;
inline constexpr uint32_t kCommandBuildVersion = 0x32;
inline constexpr uint32_t kCommandExportsTrie = 0x33 | kRequiredByDyld;

inline constexpr uint32_t kProtectRead = 1, kProtectWrite = 2,
                          kProtectExecute = 4;
inline constexpr uint32_t kSectionTypeMask = 0xff;
inline constexpr uint32_t kSectionZeroFill = 1, kSectionZeroFillLarge = 0xc,
                          kSectionZeroFillThread = 0x12;
inline constexpr uint32_t kSectionSymbolStubs = 8;
inline constexpr uint32_t kSectionPureCode = 0x80000000,
                          kSectionSomeCode = 0x00000400;

inline constexpr uint8_t kSymbolDebugMask = 0xe0, kSymbolPrivateExternal = 0x10;
inline constexpr uint8_t kSymbolTypeMask = 0x0e, kSymbolExternal = 0x01;
inline constexpr uint8_t kSymbolInSection = 0x0e;
inline constexpr uint16_t kSymbolThumb = 0x0008, kSymbolWeak = 0x0080;

struct Header32 {
  uint32_t magic, cputype, cpusubtype, filetype, ncmds, sizeofcmds, flags;
};
struct Header64 {
  uint32_t magic, cputype, cpusubtype, filetype, ncmds, sizeofcmds, flags;
  uint32_t reserved;
};
struct LoadCommand {
  uint32_t cmd, cmdsize;
};
struct Segment32 {
  uint32_t cmd, cmdsize;
  char segname[16];
  uint32_t vmaddr, vmsize, fileoff, filesize;
  uint32_t maxprot, initprot, nsects, flags;
};
struct Segment64 {
  uint32_t cmd, cmdsize;
  char segname[16];
  uint64_t vmaddr, vmsize, fileoff, filesize;
  uint32_t maxprot, initprot, nsects, flags;
};
struct Section32 {
  char sectname[16], segname[16];
  uint32_t addr, size;
  uint32_t offset, align, reloff, nreloc, flags, reserved1, reserved2;
};
struct Section64 {
  char sectname[16], segname[16];
  uint64_t addr, size;
  uint32_t offset, align, reloff, nreloc, flags, reserved1, reserved2,
      reserved3;
};
struct Symtab {
  uint32_t cmd, cmdsize, symoff, nsyms, stroff, strsize;
};
struct Uuid {
  uint32_t cmd, cmdsize;
  uint8_t uuid[16];
};
// LC_FUNCTION_STARTS, LC_DYLD_EXPORTS_TRIE.
struct LinkeditData {
  uint32_t cmd, cmdsize, dataoff, datasize;
};
struct DyldInfo {
  uint32_t cmd, cmdsize, rebase_off, rebase_size, bind_off, bind_size,
      weak_bind_off, weak_bind_size, lazy_bind_off, lazy_bind_size, export_off,
      export_size;
};
struct Dylib {
  uint32_t cmd, cmdsize, name, timestamp, current_version,
      compatibility_version;
};
struct BuildVersion {
  uint32_t cmd, cmdsize, platform, minos, sdk, ntools;
};
struct Nlist32 {
  uint32_t n_strx;
  uint8_t n_type, n_sect;
  uint16_t n_desc;
  uint32_t n_value;
};
struct Nlist64 {
  uint32_t n_strx;
  uint8_t n_type, n_sect;
  uint16_t n_desc;
  uint64_t n_value;
};

static_assert(sizeof(Header32) == 28 && sizeof(Header64) == 32);
static_assert(sizeof(Segment32) == 56 && sizeof(Segment64) == 72);
static_assert(sizeof(Section32) == 68 && sizeof(Section64) == 80);
static_assert(sizeof(Symtab) == 24 && sizeof(Uuid) == 24);
static_assert(sizeof(LinkeditData) == 16 && sizeof(DyldInfo) == 48);
static_assert(sizeof(Dylib) == 24 && sizeof(BuildVersion) == 24);
static_assert(sizeof(Nlist32) == 12 && sizeof(Nlist64) == 16);
static_assert(offsetof(Segment64, filesize) == 48 &&
              offsetof(Segment64, initprot) == 60);
static_assert(offsetof(Section64, offset) == 48 &&
              offsetof(Section64, flags) == 64);

constexpr Architecture ArchitectureOf(uint32_t cpu_type) {
  switch (cpu_type) {
    case kCpuX86_64:
      return Architecture::kX86_64;
    case kCpuI386:
      return Architecture::kI386;
    case kCpuArm64:
      return Architecture::kArm64;
    case kCpuArm:
      return Architecture::kArm;
    default:
      return Architecture::kUnknown;
  }
}

// "arm64e" and the like; "unknown" for what has no name here.
constexpr const char* ArchitectureName(uint32_t cpu_type,
                                       uint32_t cpu_subtype) {
  const uint32_t subtype = cpu_subtype & kSubtypeMask;
  switch (cpu_type) {
    case kCpuX86_64:
      return subtype == kSubtypeX86_64H ? "x86_64h" : "x86_64";
    case kCpuI386:
      return "i386";
    case kCpuArm64:
      return subtype == kSubtypeArm64E ? "arm64e" : "arm64";
    case kCpuArm64On32:
      return "arm64_32";
    case kCpuArm:
      return subtype == kSubtypeArmV7    ? "armv7"
             : subtype == kSubtypeArmV7S ? "armv7s"
             : subtype == kSubtypeArmV7K ? "armv7k"
                                         : "arm";
    default:
      return "unknown";
  }
}

}  // namespace cairn::format::macho

#endif  // CAIRN_FORMAT_MACHO_FORMAT_H_
