// SPDX-License-Identifier: Apache-2.0
//
// The frame of one ELF file: header, segments, sections, build-id, debug link.
//
// Ordinary code; knows no platform. 32 and 64 bits, little-endian. The file is
// hostile input: every offset is checked, counts are capped, nothing is read
// that is not asked for (a debug file of hundreds of megabytes costs
// kilobytes).
#ifndef CAIRN_SYMBOLICATE_ELF_FILE_H_
#define CAIRN_SYMBOLICATE_ELF_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolicate/byte_source.h"

namespace cairn::symbolicate {

struct ElfSection {
  std::string_view name;  // into the ElfFile that holds it
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0, bytes = 0;
  uint64_t offset = 0;
  uint32_t link = 0;
  uint64_t alignment = 0, entry_bytes = 0;

  bool IsCode() const;
  bool Holds(uint64_t at) const {
    return at >= address && at - address < bytes;
  }
  // `address + bytes`, never wrapped: Parse drops sections for which it would.
  uint64_t end() const { return address + bytes; }
};

struct ElfSegment {
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t offset = 0, file_bytes = 0;
  uint64_t address = 0, memory_bytes = 0;
  uint64_t alignment = 0;
};

struct DebugLink {
  std::string name;  // a base name, never with a slash
  uint32_t crc = 0;
};

class ElfFile {
 public:
  // Null when it is no executable or library that this reader knows; `error`
  // says why ("big-endian", "not an ELF file", …).
  static std::shared_ptr<const ElfFile> Parse(
      std::shared_ptr<const ByteSource> source,
      std::string* error);
  // The same for the objects that hold split debug information (.dwo, .dwp).
  static std::shared_ptr<const ElfFile> ParseSplit(
      std::shared_ptr<const ByteSource> source,
      std::string* error);

  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  bool is_64() const { return is_64_; }
  uint16_t machine() const { return machine_; }
  const ByteSource& source() const { return *source_; }
  std::shared_ptr<const ByteSource> shared_source() const { return source_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const std::vector<ElfSegment>& segments() const { return segments_; }
  const std::vector<uint8_t>& build_id() const { return build_id_; }
  // What stands in a report for the id of a file without one
  // (capture::Image::id_derived): the first page of the first executable
  // segment, folded by exclusive or into 16 bytes. Empty when unreadable.
  std::vector<uint8_t> DerivedId() const;
  // Linked address of the lowest loaded segment.
  uint64_t lowest_address() const { return lowest_address_; }

  const ElfSection* FindSection(std::string_view name) const;
  // The section with machine code that holds a linked address.
  const ElfSection* CodeSectionAt(uint64_t address) const;
  std::optional<DebugLink> debug_link() const;

  // The string at `offset` of a string table. At most `limit` bytes; nullopt
  // when it does not begin in the table. `cut` tells that it is longer.
  std::optional<std::string> StringAt(const ElfSection& table,
                                      uint64_t offset,
                                      size_t limit,
                                      bool* cut) const;
  // The whole section, when it is not longer than `limit`.
  std::optional<std::vector<uint8_t>> Contents(const ElfSection& section,
                                               size_t limit) const;

 private:
  ElfFile() = default;
  bool ParseHeader(bool is_split, std::string* error);
  bool ReadSegments(uint64_t offset, uint32_t count, uint32_t entry_bytes);
  void ReadSections(uint64_t offset,
                    uint64_t count,
                    uint32_t entry_bytes,
                    uint32_t names);
  void NameSections(uint32_t names, const std::vector<uint32_t>& offsets);
  void FindBuildId();

  std::shared_ptr<const ByteSource> source_;
  bool is_64_ = false;
  uint16_t machine_ = 0;
  uint64_t lowest_address_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
  std::vector<uint8_t> build_id_;
  std::vector<uint8_t> section_names_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_ELF_FILE_H_
