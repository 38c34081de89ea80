// SPDX-License-Identifier: Apache-2.0
//
// The debug sections of one object file, whatever kind of file that is.
//
// Ordinary code, one thread. The DWARF reader knows object files through this
// interface alone.
#ifndef CAIRN_SYMBOLICATE_DEBUG_SECTIONS_H_
#define CAIRN_SYMBOLICATE_DEBUG_SECTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "symbolicate/byte_source.h"

namespace cairn::symbolicate {

class DebugSections {
 public:
  virtual ~DebugSections() = default;
  // The section's bytes, decompressed, by the name that it has in ELF
  // (".debug_info", also for Mach-O's "__debug_info"). Null when the file has
  // none, or it cannot be decompressed. Little-endian.
  virtual std::shared_ptr<const ByteSource> Find(
      std::string_view name) const = 0;
  // Bytes of an address in the file: 4 or 8.
  virtual int address_bytes() const = 0;
  // True where the file has machine code at a linked address. What a linker
  // left over of a dropped function (at 0, 1, -1, …) lies nowhere in code.
  virtual bool IsCode(uint64_t address) const = 0;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DEBUG_SECTIONS_H_
