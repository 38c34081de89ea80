// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/macho_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "format/macho_format.h"

namespace cairn::symbolicate {
namespace {

namespace macho = format::macho;

constexpr uint32_t kMaxCommandBytes = 16u << 20;
constexpr uint32_t kMaxCommands = 65536;
constexpr size_t kMaxSegments = 4096;
constexpr size_t kMaxSections = 255;  // more have no number in symbols
constexpr size_t kMaxInstallNameBytes = 4096;
constexpr uint64_t kUuidBytes = 16;

template <typename T>
T Load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

std::string FixedName(const char (&field)[16]) {
  return std::string(field, strnlen(field, sizeof(field)));
}

bool Wraps(uint64_t address, uint64_t bytes) {
  return bytes != 0 && address + (bytes - 1) < address;
}

}  // namespace

bool MachOSection::IsCode() const {
  return (flags & (macho::kSectionPureCode | macho::kSectionSomeCode)) != 0;
}

bool MachOSection::IsInFile() const {
  const uint32_t type = flags & macho::kSectionTypeMask;
  return offset != 0 && type != macho::kSectionZeroFill &&
         type != macho::kSectionZeroFillLarge &&
         type != macho::kSectionZeroFillThread;
}

bool MachOSegment::IsReserve() const {
  return bytes == 0 || name == "__PAGEZERO" ||
         (protection == 0 && file_bytes == 0);
}

bool MachOFile::is_dsym() const {
  return file_type_ == macho::kFileDsym;
}

std::shared_ptr<const MachOFile> MachOFile::Parse(
    std::shared_ptr<const ByteSource> source,
    std::string* error) {
  std::shared_ptr<MachOFile> file(new MachOFile);
  file->source_ = std::move(source);
  if (!file->ParseHeader(error)) {
    return nullptr;
  }
  return file;
}

bool MachOFile::ParseHeader(std::string* error) {
  uint8_t raw[sizeof(macho::Header64)] = {};
  if (!source_->Read(0, raw, sizeof(macho::Header32))) {
    *error = "not a Mach-O file";
    return false;
  }
  const auto header = Load<macho::Header32>(raw);
  if (header.magic == macho::kSwappedMagic32 ||
      header.magic == macho::kSwappedMagic64) {
    *error = "a big-endian Mach-O file";
    return false;
  }
  is_64_ = header.magic == macho::kMagic64;
  if (!is_64_ && header.magic != macho::kMagic32) {
    *error = "not a Mach-O file";
    return false;
  }
  const size_t header_bytes =
      is_64_ ? sizeof(macho::Header64) : sizeof(macho::Header32);
  cpu_type_ = header.cputype;
  cpu_subtype_ = header.cpusubtype;
  file_type_ = header.filetype;
  std::vector<uint8_t> commands(header.sizeofcmds <= kMaxCommandBytes &&
                                        header.sizeofcmds <= source_->size()
                                    ? header.sizeofcmds
                                    : 0);
  if (commands.size() != header.sizeofcmds ||
      !source_->Read(header_bytes, commands.data(), commands.size())) {
    *error = "damaged load commands";
    return false;
  }
  ParseCommands(commands, header.ncmds);
  FindBases();
  return true;
}

// What stands before a damaged command is kept.
void MachOFile::ParseCommands(const std::vector<uint8_t>& commands,
                              uint32_t count) {
  size_t at = 0;
  for (uint32_t i = 0; i < std::min(count, kMaxCommands); ++i) {
    if (commands.size() - at < sizeof(macho::LoadCommand)) {
      return;
    }
    const auto command = Load<macho::LoadCommand>(&commands[at]);
    if (command.cmdsize < sizeof(command) || command.cmdsize % 4 != 0 ||
        command.cmdsize > commands.size() - at) {
      return;
    }
    ParseCommand(command.cmd, &commands[at], command.cmdsize);
    at += command.cmdsize;
  }
}

void MachOFile::ParseCommand(uint32_t kind, const uint8_t* at, uint32_t bytes) {
  const auto fits = [bytes](size_t wanted) { return bytes >= wanted; };
  if (kind == macho::kCommandSegment64 && is_64_) {
    ParseSegment<macho::Segment64, macho::Section64>(at, bytes);
  } else if (kind == macho::kCommandSegment32 && !is_64_) {
    ParseSegment<macho::Segment32, macho::Section32>(at, bytes);
  } else if (kind == macho::kCommandUuid && fits(sizeof(macho::Uuid))) {
    const uint8_t* uuid = at + offsetof(macho::Uuid, uuid);
    uuid_.assign(uuid, uuid + kUuidBytes);
  } else if (kind == macho::kCommandSymtab && fits(sizeof(macho::Symtab))) {
    const auto symtab = Load<macho::Symtab>(at);
    symbols_ = {symtab.symoff, symtab.nsyms, {symtab.stroff, symtab.strsize}};
  } else if (kind == macho::kCommandFunctionStarts &&
             fits(sizeof(macho::LinkeditData))) {
    const auto part = Load<macho::LinkeditData>(at);
    function_starts_ = {part.dataoff, part.datasize};
  } else if (kind == macho::kCommandExportsTrie &&
             fits(sizeof(macho::LinkeditData))) {
    const auto part = Load<macho::LinkeditData>(at);
    exports_ = {part.dataoff, part.datasize};
  } else if ((kind == macho::kCommandDyldInfo ||
              kind == macho::kCommandDyldInfoOnly) &&
             fits(sizeof(macho::DyldInfo))) {
    const auto info = Load<macho::DyldInfo>(at);
    exports_ = {info.export_off, info.export_size};
  } else if (kind == macho::kCommandIdDylib && fits(sizeof(macho::Dylib))) {
    const auto dylib = Load<macho::Dylib>(at);
    if (dylib.name >= sizeof(dylib) && dylib.name < bytes) {
      const auto* text = reinterpret_cast<const char*>(at) + dylib.name;
      install_name_.assign(
          text,
          strnlen(text,
                  std::min<size_t>(bytes - dylib.name, kMaxInstallNameBytes)));
    }
  } else if (kind == macho::kCommandBuildVersion &&
             fits(sizeof(macho::BuildVersion))) {
    const auto version = Load<macho::BuildVersion>(at);
    platform_ = version.platform;
    minimum_os_ = version.minos;
  }
}

template <typename Segment, typename Section>
void MachOFile::ParseSegment(const uint8_t* at, uint32_t bytes) {
  if (bytes < sizeof(Segment) || segments_.size() >= kMaxSegments) {
    return;
  }
  const auto raw = Load<Segment>(at);
  if (!Wraps(raw.vmaddr, raw.vmsize)) {
    segments_.push_back({FixedName(raw.segname),
                         raw.vmaddr,
                         raw.vmsize,
                         raw.fileoff,
                         raw.filesize,
                         raw.initprot});
  }
  const uint32_t room =
      static_cast<uint32_t>((bytes - sizeof(Segment)) / sizeof(Section));
  for (uint32_t i = 0; i < std::min(raw.nsects, room); ++i) {
    const auto section =
        Load<Section>(at + sizeof(Segment) + i * sizeof(Section));
    if (sections_.size() >= kMaxSections) {
      return;
    }
    // One that wraps stays, empty, so that the numbers in symbols stay right.
    const bool usable = section.addr + section.size >= section.addr;
    sections_.push_back({FixedName(section.segname),
                         FixedName(section.sectname),
                         section.addr,
                         usable ? section.size : 0,
                         section.offset,
                         section.flags});
  }
}

void MachOFile::FindBases() {
  uint64_t lowest = UINT64_MAX;
  bool found = false;
  for (const MachOSegment& segment : segments_) {
    if (segment.IsReserve()) {
      continue;
    }
    lowest = std::min(lowest, segment.address);
    // A dSYM keeps the addresses, not the offsets.
    if (!found && (segment.name == "__TEXT" ||
                   (segment.offset == 0 && segment.file_bytes != 0))) {
      base_address_ = segment.address;
      found = true;
    }
  }
  lowest_address_ = lowest == UINT64_MAX ? 0 : lowest;
  if (!found) {
    base_address_ = lowest_address_;
  }
}

const MachOSection* MachOFile::SectionAt(uint64_t address) const {
  for (const MachOSection& section : sections_) {
    if (section.Holds(address)) {
      return &section;
    }
  }
  return nullptr;
}

std::vector<uint8_t> MachOFile::Contents(const MachOPart& part,
                                         size_t limit) const {
  if (part.bytes == 0 || part.bytes > limit || part.bytes > source_->size()) {
    return {};
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(part.bytes));
  if (!source_->Read(part.offset, bytes.data(), bytes.size())) {
    return {};
  }
  return bytes;
}

}  // namespace cairn::symbolicate
