// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/elf_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "symbolicate/elf_format.h"

namespace cairn::symbolicate {
namespace {

// A linked file has tens of sections; -ffunction-sections objects, which are
// not read here, tens of thousands.
constexpr uint64_t kMaxSections = 1u << 16;
constexpr uint32_t kMaxSegments = 1024;
constexpr size_t kMaxSectionNameBytes = 4u << 20;
constexpr size_t kMaxNoteBytes = 64u << 10;
constexpr int kMaxNoteLooks = 32;
constexpr size_t kMaxBuildIdBytes = 64;
constexpr size_t kMaxDebugLinkBytes = 4096;

ElfSegment DecodeSegment(const uint8_t* raw, bool is_64) {
  using elf::Load32, elf::Load64;
  ElfSegment segment;
  segment.type = Load32(raw);
  segment.flags = Load32(raw + (is_64 ? 4 : 24));
  segment.offset = is_64 ? Load64(raw + 8) : Load32(raw + 4);
  segment.address = is_64 ? Load64(raw + 16) : Load32(raw + 8);
  segment.file_bytes = is_64 ? Load64(raw + 32) : Load32(raw + 16);
  segment.memory_bytes = is_64 ? Load64(raw + 40) : Load32(raw + 20);
  segment.alignment = is_64 ? Load64(raw + 48) : Load32(raw + 28);
  return segment;
}

ElfSection DecodeSection(const uint8_t* raw, bool is_64) {
  using elf::Load32, elf::Load64;
  ElfSection section;
  section.type = Load32(raw + 4);
  section.flags = is_64 ? Load64(raw + 8) : Load32(raw + 8);
  section.address = is_64 ? Load64(raw + 16) : Load32(raw + 12);
  section.offset = is_64 ? Load64(raw + 24) : Load32(raw + 16);
  section.bytes = is_64 ? Load64(raw + 32) : Load32(raw + 20);
  section.link = Load32(raw + (is_64 ? 40 : 24));
  section.alignment = is_64 ? Load64(raw + 48) : Load32(raw + 32);
  section.entry_bytes = is_64 ? Load64(raw + 56) : Load32(raw + 36);
  if (section.address + section.bytes < section.address) {
    section.bytes = 0;
  }
  return section;
}

// Looks through notes: {name bytes, data bytes, type, name, data}, each part
// padded to `alignment`.
std::vector<uint8_t> BuildIdInNotes(const std::vector<uint8_t>& notes,
                                    uint64_t alignment) {
  const uint64_t pad = alignment == 8 ? 8 : 4;
  uint64_t at = 0;
  while (at + 12 <= notes.size()) {
    const uint64_t name_bytes = elf::Load32(&notes[at]);
    const uint64_t data_bytes = elf::Load32(&notes[at + 4]);
    const uint32_t type = elf::Load32(&notes[at + 8]);
    const uint64_t name = at + 12;
    const uint64_t data = (name + name_bytes + pad - 1) / pad * pad;
    if (data + data_bytes > notes.size()) {
      break;
    }
    if (type == elf::kNoteBuildId && name_bytes == 4 &&
        std::memcmp(&notes[name], "GNU", 4) == 0 && data_bytes > 0 &&
        data_bytes <= kMaxBuildIdBytes) {
      return {notes.begin() + static_cast<ptrdiff_t>(data),
              notes.begin() + static_cast<ptrdiff_t>(data + data_bytes)};
    }
    at = (data + data_bytes + pad - 1) / pad * pad;
  }
  return {};
}

}  // namespace

bool ElfSection::IsCode() const {
  constexpr uint64_t kBoth = elf::kFlagAlloc | elf::kFlagCode;
  return (flags & kBoth) == kBoth;
}

std::shared_ptr<const ElfFile> ElfFile::Parse(
    std::shared_ptr<const ByteSource> source,
    std::string* error) {
  std::shared_ptr<ElfFile> file(new ElfFile);
  file->source_ = std::move(source);
  if (!file->ParseHeader(false, error)) {
    return nullptr;
  }
  file->FindBuildId();
  return file;
}

std::shared_ptr<const ElfFile> ElfFile::ParseSplit(
    std::shared_ptr<const ByteSource> source,
    std::string* error) {
  std::shared_ptr<ElfFile> file(new ElfFile);
  file->source_ = std::move(source);
  return file->ParseHeader(true, error) ? file : nullptr;
}

bool ElfFile::ParseHeader(bool is_split, std::string* error) {
  using elf::Load16, elf::Load32, elf::Load64;
  uint8_t raw[elf::kHeaderBytes64] = {};
  const size_t bytes = static_cast<size_t>(
      std::min<uint64_t>(source_->size(), elf::kHeaderBytes64));
  if (bytes < elf::kHeaderBytes32 || !source_->Read(0, raw, bytes) ||
      std::memcmp(raw,
                  "\x7f"
                  "ELF",
                  4) != 0) {
    *error = "not an ELF file";
    return false;
  }
  is_64_ = raw[4] == elf::kClass64;
  if (raw[5] == elf::kBigEndianData) {
    *error = "big-endian ELF file; only little-endian ones can be read";
    return false;
  }
  if ((!is_64_ && raw[4] != elf::kClass32) ||
      raw[5] != elf::kLittleEndianData ||
      (is_64_ && bytes < elf::kHeaderBytes64)) {
    *error = "damaged ELF header";
    return false;
  }
  const uint16_t type = Load16(raw + 16);
  const bool is_known =
      is_split || type == elf::kTypeExecutable || type == elf::kTypeShared;
  if (!is_known) {
    *error = type == 1   ? "relocatable object; link it first"
             : type == 4 ? "core file, not a program or library"
                         : "neither a program nor a library";
    return false;
  }
  machine_ = Load16(raw + 18);
  const uint8_t* counts = raw + (is_64_ ? 54 : 42);
  const uint64_t segments = is_64_ ? Load64(raw + 32) : Load32(raw + 28);
  const uint64_t sections = is_64_ ? Load64(raw + 40) : Load32(raw + 32);
  if (!ReadSegments(segments, Load16(counts + 2), Load16(counts))) {
    *error = "damaged program headers";
    return false;
  }
  ReadSections(
      sections, Load16(counts + 6), Load16(counts + 4), Load16(counts + 8));
  return true;
}

bool ElfFile::ReadSegments(uint64_t offset,
                           uint32_t count,
                           uint32_t entry_bytes) {
  const size_t least = is_64_ ? elf::kSegmentBytes64 : elf::kSegmentBytes32;
  if (count == 0) {
    return true;
  }
  if (entry_bytes != least || count > kMaxSegments) {
    return false;
  }
  std::vector<uint8_t> raw(size_t{count} * entry_bytes);
  if (!source_->Read(offset, raw.data(), raw.size())) {
    return false;
  }
  uint64_t lowest = UINT64_MAX;
  for (uint32_t i = 0; i < count; ++i) {
    segments_.push_back(DecodeSegment(&raw[size_t{i} * entry_bytes], is_64_));
    if (segments_.back().type == elf::kSegmentLoad) {
      lowest = std::min(lowest, segments_.back().address);
    }
  }
  lowest_address_ = lowest == UINT64_MAX ? 0 : lowest;
  return true;
}

// A file whose section table is gone or cut is one without symbols, not an
// error: strip tools make such files, and they run.
void ElfFile::ReadSections(uint64_t offset,
                           uint64_t count,
                           uint32_t entry_bytes,
                           uint32_t names) {
  const size_t least = is_64_ ? elf::kSectionBytes64 : elf::kSectionBytes32;
  uint8_t first[elf::kSectionBytes64] = {};
  if (offset == 0 || entry_bytes != least ||
      !source_->Read(offset, first, least)) {
    return;
  }
  const ElfSection zeroth = DecodeSection(first, is_64_);
  if (count == 0) {  // 0xff00 sections or more: the count is in section 0
    count = zeroth.bytes;
  }
  if (names == elf::kIndexExtended) {
    names = zeroth.link;
  }
  if (count > kMaxSections || count * least > source_->size()) {
    return;
  }
  std::vector<uint8_t> raw(static_cast<size_t>(count) * entry_bytes);
  if (!source_->Read(offset, raw.data(), raw.size())) {
    return;
  }
  std::vector<uint32_t> name_offsets;
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t* at = &raw[static_cast<size_t>(i) * entry_bytes];
    sections_.push_back(DecodeSection(at, is_64_));
    name_offsets.push_back(elf::Load32(at));
  }
  NameSections(names, name_offsets);
}

void ElfFile::NameSections(uint32_t names,
                           const std::vector<uint32_t>& offsets) {
  if (names >= sections_.size()) {
    return;
  }
  auto contents = Contents(sections_[names], kMaxSectionNameBytes);
  if (!contents) {
    return;
  }
  section_names_ = *std::move(contents);
  section_names_.push_back(0);
  const auto* text = reinterpret_cast<const char*>(section_names_.data());
  for (size_t i = 0; i < sections_.size(); ++i) {
    if (offsets[i] < section_names_.size()) {
      const char* name = text + offsets[i];
      // Hostile tables hold one long name many times over: bound each look.
      sections_[i].name = std::string_view(
          name,
          strnlen(name,
                  std::min<size_t>(256, section_names_.size() - offsets[i])));
    }
  }
}

const ElfSection* ElfFile::FindSection(std::string_view name) const {
  for (const ElfSection& section : sections_) {
    if (section.name == name) {
      return &section;
    }
  }
  return nullptr;
}

const ElfSection* ElfFile::CodeSectionAt(uint64_t address) const {
  for (const ElfSection& section : sections_) {
    if (section.IsCode() && section.Holds(address)) {
      return &section;
    }
  }
  return nullptr;
}

std::optional<std::vector<uint8_t>> ElfFile::Contents(const ElfSection& section,
                                                      size_t limit) const {
  if (section.type == elf::kSectionNoBits || section.bytes > limit ||
      (section.flags & elf::kFlagCompressed) != 0 ||
      section.bytes > source_->size()) {
    return std::nullopt;
  }
  std::vector<uint8_t> contents(static_cast<size_t>(section.bytes));
  if (!source_->Read(section.offset, contents.data(), contents.size())) {
    return std::nullopt;
  }
  return contents;
}

std::optional<std::string> ElfFile::StringAt(const ElfSection& table,
                                             uint64_t offset,
                                             size_t limit,
                                             bool* cut) const {
  *cut = false;
  if (table.type == elf::kSectionNoBits || offset >= table.bytes ||
      table.offset + offset < table.offset) {
    return std::nullopt;
  }
  std::string text;
  uint64_t left = std::min<uint64_t>(table.bytes - offset, limit);
  char chunk[128];
  for (uint64_t at = table.offset + offset; left != 0;) {
    const auto bytes =
        static_cast<size_t>(std::min<uint64_t>(left, sizeof(chunk)));
    // The table may end with the file, less than one chunk away.
    const uint64_t end = source_->size();
    const auto here = static_cast<size_t>(
        at < end ? std::min<uint64_t>(bytes, end - at) : bytes);
    if (!source_->Read(at, chunk, here)) {
      return std::nullopt;
    }
    const size_t length = strnlen(chunk, here);
    text.append(chunk, length);
    if (length < here) {
      return text;
    }
    at += here;
    left -= here;
  }
  *cut = true;
  return text;
}

std::optional<DebugLink> ElfFile::debug_link() const {
  const ElfSection* section = FindSection(".gnu_debuglink");
  if (section == nullptr) {
    return std::nullopt;
  }
  auto contents = Contents(*section, kMaxDebugLinkBytes);
  if (!contents || contents->empty()) {
    return std::nullopt;
  }
  DebugLink link;
  const auto* text = reinterpret_cast<const char*>(contents->data());
  link.name.assign(text, strnlen(text, contents->size()));
  // Name, terminator, padding to 4, CRC.
  const size_t crc = (link.name.size() + 1 + 3) / 4 * 4;
  if (link.name.empty() || link.name.find('/') != std::string::npos ||
      link.name == "." || link.name == ".." || crc + 4 > contents->size()) {
    return std::nullopt;
  }
  link.crc = elf::Load32(&(*contents)[crc]);
  return link;
}

std::vector<uint8_t> ElfFile::DerivedId() const {
  constexpr size_t kIdBytes = 16, kPageBytes = 4096;
  for (const ElfSegment& segment : segments_) {
    if (segment.type != elf::kSegmentLoad || segment.file_bytes == 0 ||
        (segment.flags & elf::kSegmentExecute) == 0) {
      continue;
    }
    std::vector<uint8_t> page(static_cast<size_t>(
        std::min<uint64_t>(segment.file_bytes, kPageBytes)));
    if (!source_->Read(segment.offset, page.data(), page.size())) {
      return {};
    }
    std::vector<uint8_t> id(kIdBytes);
    for (size_t i = 0; i < page.size(); ++i) {
      id[i % kIdBytes] ^= page[i];
    }
    return id;
  }
  return {};
}

// Sections first: a separate debug file keeps the program headers of its
// program, whose file offsets mean nothing there.
void ElfFile::FindBuildId() {
  int looks = kMaxNoteLooks;
  for (const ElfSection& section : sections_) {
    if (section.type != elf::kSectionNote || looks == 0) {
      continue;
    }
    --looks;
    if (auto notes = Contents(section, kMaxNoteBytes)) {
      build_id_ = BuildIdInNotes(*notes, section.alignment);
      if (!build_id_.empty()) {
        return;
      }
    }
  }
  for (const ElfSegment& segment : segments_) {
    if (segment.type != elf::kSegmentNote ||
        segment.file_bytes > kMaxNoteBytes || looks == 0) {
      continue;
    }
    --looks;
    std::vector<uint8_t> notes(static_cast<size_t>(segment.file_bytes));
    if (source_->Read(segment.offset, notes.data(), notes.size())) {
      build_id_ = BuildIdInNotes(notes, segment.alignment);
      if (!build_id_.empty()) {
        return;
      }
    }
  }
}

}  // namespace cairn::symbolicate
