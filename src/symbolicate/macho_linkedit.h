// SPDX-License-Identifier: Apache-2.0
//
// The two compressed tables behind a Mach-O file's segments: where functions
// start, and the trie of exported names.
//
// Ordinary code; bounded in time, depth and memory on any input.
#ifndef CAIRN_SYMBOLICATE_MACHO_LINKEDIT_H_
#define CAIRN_SYMBOLICATE_MACHO_LINKEDIT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::symbolicate {

// LC_FUNCTION_STARTS: distances in ULEB128, the first from `base`. Rising;
// damage ends the list. The Thumb bit is still in them.
std::vector<uint64_t> DecodeFunctionStarts(const std::vector<uint8_t>& bytes,
                                           uint64_t base);

struct MachOExport {
  std::string name;
  uint64_t offset = 0;  // from the image's header
  bool weak = false;
};

// The exports that have an address in the image: no re-exports, no absolute
// values, no thread-local ones. At most kMaxExports, names of at most
// kMaxExportNameBytes, all names together at most kMaxExportTextBytes; what
// stands before a damage, or a bound, is kept.
inline constexpr size_t kMaxExports = 1u << 20;
inline constexpr size_t kMaxExportNameBytes = 16u << 10;
inline constexpr size_t kMaxExportTextBytes = 64u << 20;
std::vector<MachOExport> DecodeExports(const std::vector<uint8_t>& trie);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_MACHO_LINKEDIT_H_
