// SPDX-License-Identifier: Apache-2.0
//
// The frame of one Mach-O file: header, segments, sections, UUID, and where the
// symbol tables are. Fat files: one MachOFile for each architecture.
//
// Ordinary code; knows no platform. 32 and 64 bits, little-endian; the other
// byte order (PowerPC) is refused by name. The file is hostile input: every
// offset is checked, counts are capped, nothing is read that is not asked for.
#ifndef CAIRN_SYMBOLICATE_MACHO_FILE_H_
#define CAIRN_SYMBOLICATE_MACHO_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/report_format.h"
#include "symbolicate/byte_source.h"

namespace cairn::symbolicate {

struct MachOSection {
  std::string segment, name;
  uint64_t address = 0, bytes = 0;
  uint64_t offset = 0;
  uint32_t flags = 0;

  bool IsCode() const;
  // The bytes are in the file; not so for zero-filled ones and in a dSYM.
  bool IsInFile() const;
  bool Holds(uint64_t at) const {
    return at >= address && at - address < bytes;
  }
  // Never wrapped: Parse drops sections for which it would.
  uint64_t end() const { return address + bytes; }
};

struct MachOSegment {
  std::string name;
  uint64_t address = 0, bytes = 0;
  uint64_t offset = 0, file_bytes = 0;
  uint32_t protection = 0;  // read 1, write 2, execute 4

  // No part of the image: __PAGEZERO and the like.
  bool IsReserve() const;
};

// A part of the file; 0 bytes when it has none.
struct MachOPart {
  uint64_t offset = 0, bytes = 0;
};

struct MachOSymbolTable {
  uint64_t offset = 0, count = 0;
  MachOPart strings;
};

class MachOFile {
 public:
  // Null when it is no Mach-O file that this reader knows; `error` says why.
  // `source` begins with the header.
  static std::shared_ptr<const MachOFile> Parse(
      std::shared_ptr<const ByteSource> source,
      std::string* error);

  MachOFile(const MachOFile&) = delete;
  MachOFile& operator=(const MachOFile&) = delete;

  bool is_64() const { return is_64_; }
  uint32_t cpu_type() const { return cpu_type_; }
  uint32_t cpu_subtype() const { return cpu_subtype_; }
  uint32_t file_type() const { return file_type_; }
  bool is_dsym() const;
  const ByteSource& source() const { return *source_; }
  // Command order. Numbered from 1 in symbols: sections()[n_sect − 1].
  const std::vector<MachOSection>& sections() const { return sections_; }
  const std::vector<MachOSegment>& segments() const { return segments_; }
  const std::vector<uint8_t>& uuid() const {
    return uuid_;
  }  // 16 bytes or none
  const std::string& install_name() const { return install_name_; }
  uint32_t platform() const { return platform_; }  // 0: unknown
  uint32_t minimum_os() const { return minimum_os_; }
  const MachOSymbolTable& symbols() const { return symbols_; }
  const MachOPart& function_starts() const { return function_starts_; }
  const MachOPart& exports() const { return exports_; }
  // Linked address of the header, which exports and function starts count from.
  uint64_t base_address() const { return base_address_; }
  // Of the lowest segment that is no reserve.
  uint64_t lowest_address() const { return lowest_address_; }

  // Null when no section holds the address.
  const MachOSection* SectionAt(uint64_t address) const;
  // A part's bytes; empty when it is longer than `limit` or not there.
  std::vector<uint8_t> Contents(const MachOPart& part, size_t limit) const;

 private:
  MachOFile() = default;
  bool ParseHeader(std::string* error);
  void ParseCommands(const std::vector<uint8_t>& commands, uint32_t count);
  void ParseCommand(uint32_t kind, const uint8_t* at, uint32_t bytes);
  template <typename Segment, typename Section>
  void ParseSegment(const uint8_t* at, uint32_t bytes);
  void FindBases();

  std::shared_ptr<const ByteSource> source_;
  bool is_64_ = false;
  uint32_t cpu_type_ = 0, cpu_subtype_ = 0, file_type_ = 0;
  uint32_t platform_ = 0, minimum_os_ = 0;
  uint64_t base_address_ = 0, lowest_address_ = 0;
  std::vector<MachOSection> sections_;
  std::vector<MachOSegment> segments_;
  std::vector<uint8_t> uuid_;
  std::string install_name_;
  MachOSymbolTable symbols_;
  MachOPart function_starts_, exports_;
};

// True for the first bytes of a Mach-O or fat file, of either byte order.
bool IsMachO(const ByteSource& source);

// All Mach-O files in `source`, which is thin or fat. Those that cannot be read
// are left out; with none left `error` says why.
std::vector<std::shared_ptr<const MachOFile>> ParseMachOSlices(
    const std::shared_ptr<const ByteSource>& source,
    std::string* error);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_MACHO_FILE_H_
