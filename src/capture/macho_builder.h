// SPDX-License-Identifier: Apache-2.0
//
// Builds a Mach-O header with its load commands, byte by byte. For tests only.
#ifndef CAIRN_CAPTURE_MACHO_BUILDER_H_
#define CAIRN_CAPTURE_MACHO_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "format/macho_format.h"

namespace cairn::capture {

struct MachOSectionSpec {
  std::string name;
  uint64_t address = 0, bytes = 0;
  uint32_t offset = 0, flags = 0;
};

struct MachOSegmentSpec {
  std::string name;
  uint64_t address = 0, bytes = 0, offset = 0, file_bytes = 0;
  uint32_t protection = 0;
  std::vector<MachOSectionSpec> sections = {};
};

class MachOBuilder {
 public:
  using Bytes = std::vector<uint8_t>;

  explicit MachOBuilder(bool wide = true,
                        uint32_t cpu_type = format::macho::kCpuX86_64,
                        uint32_t cpu_subtype = 3)
      : wide_(wide), cpu_type_(cpu_type), cpu_subtype_(cpu_subtype) {}

  template <typename T>
  static void Put(Bytes* bytes, const T& value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    bytes->insert(bytes->end(), raw, raw + sizeof(T));
  }

  void Segment(const MachOSegmentSpec& spec) {
    wide_ ? Segment64(spec) : Segment32(spec);
  }
  // Any command by its structure, `tail` behind it, padded to 8 bytes; its size
  // is filled in.
  template <typename T>
  void Command(T command, const std::string& tail = "") {
    Bytes bytes;
    Put(&bytes, command);
    bytes.insert(bytes.end(), tail.begin(), tail.end());
    bytes.resize((bytes.size() + 7) & ~size_t{7});
    const auto size = static_cast<uint32_t>(bytes.size());
    std::memcpy(&bytes[4], &size, sizeof(size));
    Raw(bytes);
  }
  void Uuid(const Bytes& uuid) {
    format::macho::Uuid command = {format::macho::kCommandUuid, 0, {}};
    std::memcpy(command.uuid, uuid.data(), sizeof(command.uuid));
    Command(command);
  }
  // A whole command with its header.
  void Raw(const Bytes& bytes) {
    commands_.insert(commands_.end(), bytes.begin(), bytes.end());
    ++count_;
  }

  void SetFileType(uint32_t type) { file_type_ = type; }
  void SetFlags(uint32_t flags) { flags_ = flags; }
  // What the header claims, where that shall not be what is there.
  void ClaimCommands(uint32_t count) { count_ = count; }

  Bytes Build() const {
    Bytes bytes;
    Put(&bytes,
        format::macho::Header32{
            wide_ ? format::macho::kMagic64 : format::macho::kMagic32,
            cpu_type_,
            cpu_subtype_,
            file_type_,
            count_,
            static_cast<uint32_t>(commands_.size()),
            flags_});
    if (wide_) {
      Put(&bytes, uint32_t{0});
    }
    bytes.insert(bytes.end(), commands_.begin(), commands_.end());
    return bytes;
  }

 private:
  static void Name(char (&field)[16], const std::string& name) {
    std::memcpy(field, name.data(), std::min<size_t>(name.size(), 16));
  }

  void Segment64(const MachOSegmentSpec& spec) {
    format::macho::Segment64 segment = {};
    segment.cmd = format::macho::kCommandSegment64;
    Name(segment.segname, spec.name);
    segment.vmaddr = spec.address;
    segment.vmsize = spec.bytes;
    segment.fileoff = spec.offset;
    segment.filesize = spec.file_bytes;
    segment.maxprot = segment.initprot = spec.protection;
    segment.nsects = static_cast<uint32_t>(spec.sections.size());
    Bytes tail;
    for (const MachOSectionSpec& from : spec.sections) {
      format::macho::Section64 section = {};
      Name(section.sectname, from.name);
      Name(section.segname, spec.name);
      section.addr = from.address;
      section.size = from.bytes;
      section.offset = from.offset;
      section.flags = from.flags;
      Put(&tail, section);
    }
    Command(segment, std::string(tail.begin(), tail.end()));
  }

  void Segment32(const MachOSegmentSpec& spec) {
    format::macho::Segment32 segment = {};
    segment.cmd = format::macho::kCommandSegment32;
    Name(segment.segname, spec.name);
    segment.vmaddr = static_cast<uint32_t>(spec.address);
    segment.vmsize = static_cast<uint32_t>(spec.bytes);
    segment.fileoff = static_cast<uint32_t>(spec.offset);
    segment.filesize = static_cast<uint32_t>(spec.file_bytes);
    segment.maxprot = segment.initprot = spec.protection;
    segment.nsects = static_cast<uint32_t>(spec.sections.size());
    Bytes tail;
    for (const MachOSectionSpec& from : spec.sections) {
      format::macho::Section32 section = {};
      Name(section.sectname, from.name);
      Name(section.segname, spec.name);
      section.addr = static_cast<uint32_t>(from.address);
      section.size = static_cast<uint32_t>(from.bytes);
      section.offset = from.offset;
      section.flags = from.flags;
      Put(&tail, section);
    }
    Command(segment, std::string(tail.begin(), tail.end()));
  }

  bool wide_;
  uint32_t cpu_type_, cpu_subtype_;
  uint32_t file_type_ = format::macho::kFileExecute;
  uint32_t flags_ = 0;
  uint32_t count_ = 0;
  Bytes commands_;
};

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_MACHO_BUILDER_H_
