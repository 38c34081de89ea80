// SPDX-License-Identifier: Apache-2.0
//
// Where the separate debug file of an ELF file lies.
//
// Ordinary code. Only files of this machine are looked at.
#ifndef CAIRN_SYMBOLICATE_DEBUG_FILES_H_
#define CAIRN_SYMBOLICATE_DEBUG_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbolicate/elf_file.h"
#include "symbolicate/symbolicator.h"

namespace cairn::symbolicate {

std::string Hex(const std::vector<uint8_t>& bytes);

// The debug file with this build-id: `.build-id/xx/yyyy.debug` below
// /usr/lib/debug, `xx/yyyy.debug` and the same below each of
// Options::debug_directories. A file found there with another id is not taken.
std::shared_ptr<const ElfFile> FindDebugFileById(
    const std::vector<uint8_t>& build_id,
    const Options& options);

// The file that `.gnu_debuglink` of `file` (at `path`, sysroot included) names:
// beside it, in `.debug/` beside it, below the debug directories. Taken when
// both have the same build-id; where one has none, when the CRC is the link's.
std::shared_ptr<const ElfFile> FindDebugFileByLink(const ElfFile& file,
                                                   const std::string& path,
                                                   const Options& options);

// CRC-32 as in a debug link (polynomial 0xEDB88320, reflected).
uint32_t DebugLinkCrc(uint32_t crc, const uint8_t* data, size_t bytes);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DEBUG_FILES_H_
