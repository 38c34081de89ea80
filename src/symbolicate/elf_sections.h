// SPDX-License-Identifier: Apache-2.0
//
// Debug sections of an ELF file, compressed ones (SHF_COMPRESSED with zlib or
// zstd, and GNU's older .zdebug_*) included.
//
// Ordinary code, one thread.
#ifndef CAIRN_SYMBOLICATE_ELF_SECTIONS_H_
#define CAIRN_SYMBOLICATE_ELF_SECTIONS_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolicate/debug_sections.h"
#include "symbolicate/elf_file.h"

namespace cairn::symbolicate {

class ElfSections : public DebugSections {
 public:
  explicit ElfSections(std::shared_ptr<const ElfFile> file);

  // A section is decompressed at the first call, at most to 4 GiB, and kept.
  std::shared_ptr<const ByteSource> Find(std::string_view name) const override;
  int address_bytes() const override { return file_->is_64() ? 8 : 4; }
  bool IsCode(uint64_t address) const override;

 private:
  std::shared_ptr<const ByteSource> Open(std::string_view name) const;

  std::shared_ptr<const ElfFile> file_;
  std::vector<std::pair<uint64_t, uint64_t>> code_;  // [from, to), sorted
  mutable std::map<std::string, std::shared_ptr<const ByteSource>, std::less<>>
      opened_;
};

// Bytes of a section as they stand in the file or, compressed, in memory. Null
// when they are not whole.
std::shared_ptr<const ByteSource> SectionSource(const ElfFile& file,
                                                const ElfSection& section);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_ELF_SECTIONS_H_
