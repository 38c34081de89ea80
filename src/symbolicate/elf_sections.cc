// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/elf_sections.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "symbolicate/decompress.h"
#include "symbolicate/elf_format.h"

namespace cairn::symbolicate {
namespace {

constexpr uint64_t kMaxInflatedBytes = 4ull << 30;
constexpr uint32_t kZlib = 1, kZstd = 2;
constexpr size_t kGnuHeaderBytes = 12;  // "ZLIB", big-endian length

uint64_t BigEndian64(const uint8_t* at) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) {
    value = value << 8 | at[i];
  }
  return value;
}

std::shared_ptr<const ByteSource> Inflate(uint32_t type,
                                          const std::vector<uint8_t>& packed,
                                          size_t header_bytes,
                                          uint64_t bytes) {
  if (header_bytes > packed.size() || bytes > kMaxInflatedBytes) {
    return nullptr;
  }
  const uint8_t* data = packed.data() + header_bytes;
  const size_t data_bytes = packed.size() - header_bytes;
  const auto wanted = static_cast<size_t>(bytes);
  auto out = type == kZlib   ? InflateZlib(data, data_bytes, wanted)
             : type == kZstd ? InflateZstd(data, data_bytes, wanted)
                             : std::nullopt;
  return out ? MemorySource(*std::move(out)) : nullptr;
}

std::optional<std::vector<uint8_t>> RawBytes(const ElfFile& file,
                                             const ElfSection& section) {
  if (section.bytes > file.source().size()) {
    return std::nullopt;
  }
  std::vector<uint8_t> raw(static_cast<size_t>(section.bytes));
  if (!file.source().Read(section.offset, raw.data(), raw.size())) {
    return std::nullopt;
  }
  return raw;
}

// Elf32_Chdr {type, size, alignment}, Elf64_Chdr {type, reserved, size, …}.
std::shared_ptr<const ByteSource> InflateElf(const ElfFile& file,
                                             const ElfSection& section) {
  const size_t header = file.is_64() ? 24 : 12;
  const auto raw = RawBytes(file, section);
  if (!raw || raw->size() < header) {
    return nullptr;
  }
  return Inflate(elf::Load32(raw->data()),
                 *raw,
                 header,
                 file.is_64() ? elf::Load64(raw->data() + 8)
                              : elf::Load32(raw->data() + 4));
}

std::shared_ptr<const ByteSource> InflateGnu(const ElfFile& file,
                                             const ElfSection& section) {
  const auto raw = RawBytes(file, section);
  if (!raw || raw->size() < kGnuHeaderBytes ||
      std::memcmp(raw->data(), "ZLIB", 4) != 0) {
    return nullptr;
  }
  return Inflate(kZlib, *raw, kGnuHeaderBytes, BigEndian64(raw->data() + 4));
}

}  // namespace

std::shared_ptr<const ByteSource> SectionSource(const ElfFile& file,
                                                const ElfSection& section) {
  if (section.type == elf::kSectionNoBits) {
    return nullptr;
  }
  if ((section.flags & elf::kFlagCompressed) != 0) {
    return InflateElf(file, section);
  }
  return PartOfSource(file.shared_source(), section.offset, section.bytes);
}

ElfSections::ElfSections(std::shared_ptr<const ElfFile> file)
    : file_(std::move(file)) {
  for (const ElfSection& section : file_->sections()) {
    if (section.IsCode() && section.bytes != 0) {
      code_.emplace_back(section.address, section.end());
    }
  }
  std::sort(code_.begin(), code_.end());
}

std::shared_ptr<const ByteSource> ElfSections::Open(
    std::string_view name) const {
  if (const ElfSection* section = file_->FindSection(name)) {
    return SectionSource(*file_, *section);
  }
  if (name.starts_with(".debug_")) {
    const std::string packed = ".z" + std::string(name.substr(1));
    if (const ElfSection* section = file_->FindSection(packed)) {
      return InflateGnu(*file_, *section);
    }
  }
  return nullptr;
}

std::shared_ptr<const ByteSource> ElfSections::Find(
    std::string_view name) const {
  auto found = opened_.find(name);
  if (found == opened_.end()) {
    found = opened_.emplace(name, Open(name)).first;
  }
  return found->second;
}

bool ElfSections::IsCode(uint64_t address) const {
  auto after = std::upper_bound(
      code_.begin(), code_.end(), std::pair(address, UINT64_MAX));
  return after != code_.begin() && address < (after - 1)->second;
}

}  // namespace cairn::symbolicate
