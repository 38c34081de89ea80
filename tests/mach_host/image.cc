// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "macho_file.h"

namespace mach_host {
namespace {

constexpr std::uint64_t kPage = 0x1000;

std::uint64_t RoundUp(std::uint64_t value) {
  return (value + kPage - 1) & ~(kPage - 1);
}

std::string FixedName(const char (&name)[16]) {
  return {name, strnlen(name, sizeof name)};
}

[[noreturn]] void Fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

}  // namespace

Image::Image(const std::string& path) : path_(path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    Fail(path, "cannot be opened");
  file_.assign(std::istreambuf_iterator<char>(in), {});
  ReadCommands();
  Map();
  if (rebase_size_ != 0)
    RebaseClassic();
}

void Image::ReadCommands() {
  macho::Header header;
  if (file_.size() < sizeof header)
    Fail(path_, "shorter than a Mach-O header");
  std::memcpy(&header, file_.data(), sizeof header);
  if (header.magic != macho::kMagic64 || header.cpu_type != macho::kCpuX86_64)
    Fail(path_, "not a 64-bit x86_64 Mach-O file");
  std::size_t at = sizeof header;
  for (std::uint32_t i = 0; i < header.command_count; ++i) {
    macho::Command command;
    if (at + sizeof command > file_.size())
      Fail(path_, "load commands run over the file's end");
    std::memcpy(&command, &file_[at], sizeof command);
    if (command.size < sizeof command || at + command.size > file_.size())
      Fail(path_, "a load command's size is wrong");
    const std::uint8_t* bytes = &file_[at];
    const auto word = [&](std::size_t offset) {
      std::uint32_t value;
      std::memcpy(&value, bytes + offset, sizeof value);
      return value;
    };
    switch (command.kind) {
      case macho::kSegment64: {
        macho::SegmentCommand segment;
        std::memcpy(&segment, bytes, sizeof segment);
        segments_.push_back({FixedName(segment.name),
                             segment.address,
                             segment.size,
                             segment.file_offset,
                             segment.file_size,
                             segment.protection});
        for (std::uint32_t s = 0; s < segment.section_count; ++s) {
          macho::SectionHeader section;
          std::memcpy(&section,
                      bytes + sizeof segment + s * sizeof section,
                      sizeof section);
          sections_.push_back({FixedName(section.segment),
                               FixedName(section.name),
                               section.address,
                               section.size,
                               section.flags});
        }
        break;
      }
      case macho::kMain:
        std::memcpy(&entry_offset_, bytes + 8, sizeof entry_offset_);
        break;
      case macho::kUuid:
        for (int b = 0; b < 16; ++b) {
          constexpr char kDigits[] = "0123456789abcdef";
          uuid_ += kDigits[bytes[8 + b] >> 4];
          uuid_ += kDigits[bytes[8 + b] & 15];
        }
        break;
      case macho::kSymbolTable:
        symbols_offset_ = word(8), symbols_count_ = word(12);
        strings_offset_ = word(16), strings_size_ = word(20);
        break;
      case macho::kDyldInfo:
      case macho::kDyldInfoOnly:
        rebase_offset_ = word(8), rebase_size_ = word(12);
        bind_offset_ = word(16), bind_size_ = word(20);
        weak_offset_ = word(24), weak_size_ = word(28);
        lazy_offset_ = word(32), lazy_size_ = word(36);
        break;
      case macho::kChainedFixups:
        chained_offset_ = word(8), chained_size_ = word(12);
        break;
      case macho::kLoadDylib:
      case macho::kLoadWeakDylib:
        libraries_.emplace_back(reinterpret_cast<const char*>(bytes + word(8)));
        break;
      default:
        break;
    }
    at += command.size;
  }
}

// One reservation for the whole image; `__PAGEZERO` is left out, as nothing of
// a 64-bit process is below 4 GiB there anyway.
void Image::Map() {
  std::uint64_t low = ~0ull, high = 0;
  for (const Segment& segment : segments_) {
    if (segment.name == "__PAGEZERO")
      continue;
    low = std::min(low, segment.address);
    high = std::max(high, RoundUp(segment.address + segment.size));
    if (segment.name == "__TEXT")
      text_address_ = segment.address;
  }
  if (high <= low)
    Fail(path_, "no segments");
  void* place =
      mmap(nullptr, high - low, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED)
    Fail(path_, "no room to map it");
  slide_ = reinterpret_cast<std::uint64_t>(place) - low;
  for (const Segment& segment : segments_) {
    if (segment.name == "__PAGEZERO" || segment.size == 0)
      continue;
    auto* to = reinterpret_cast<std::uint8_t*>(segment.address + slide_);
    mprotect(to, RoundUp(segment.size), PROT_READ | PROT_WRITE);
    if (segment.file_offset + segment.file_size > file_.size())
      Fail(path_, "a segment is cut");
    std::memcpy(to, &file_[segment.file_offset], segment.file_size);
  }
  if (entry_offset_ != 0)
    entry_ = header() + entry_offset_;
}

void Image::Protect() {
  for (const Segment& segment : segments_) {
    if (segment.name == "__PAGEZERO" || segment.size == 0)
      continue;
    int protection = segment.protection;
    if (segment.name == "__DATA_CONST")
      protection = PROT_READ;
    mprotect(reinterpret_cast<void*>(segment.address + slide_),
             RoundUp(segment.size),
             protection);
  }
}

std::uint64_t Image::SegmentAddress(std::size_t index) const {
  if (index >= segments_.size())
    Fail(path_, "a fix-up names a segment that is not there");
  return segments_[index].address + slide_;
}

void Image::Store(std::uint64_t address, std::uint64_t value) {
  if (!Contains(address))
    Fail(path_, "a fix-up lies outside the image");
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

std::uint64_t Image::Resolve(const Resolver& resolve,
                             const std::string& name,
                             bool weak) {
  imports_.push_back(name);
  const std::uint64_t address = resolve(name, weak);
  if (address == 0 && !weak)
    Fail(path_, "no definition of " + name);
  return address;
}

const Section* Image::FindSection(std::string_view segment,
                                  std::string_view name) const {
  for (const Section& section : sections_)
    if (section.segment == segment && section.name == name)
      return &section;
  return nullptr;
}

bool Image::Contains(std::uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (segment.name == "__PAGEZERO")
      continue;
    if (address - (segment.address + slide_) < segment.size)
      return true;
  }
  return false;
}

std::uint64_t Image::FindSymbol(std::string_view name) const {
  for (std::uint32_t i = 0; i < symbols_count_; ++i) {
    macho::Symbol symbol;
    const std::size_t at = symbols_offset_ + i * sizeof symbol;
    if (at + sizeof symbol > file_.size())
      return 0;
    std::memcpy(&symbol, &file_[at], sizeof symbol);
    const bool defined =
        (symbol.type & 0xe0) == 0 && (symbol.type & 0x0e) == 0x0e;
    if (!defined || symbol.string >= strings_size_)
      continue;
    const auto* text =
        reinterpret_cast<const char*>(&file_[strings_offset_ + symbol.string]);
    if (name == text)
      return symbol.value + slide_;
  }
  return 0;
}

std::vector<std::uint64_t> Image::Initialisers() const {
  std::vector<std::uint64_t> found;
  for (const Section& section : sections_) {
    const auto* start =
        reinterpret_cast<const std::uint8_t*>(section.address + slide_);
    if ((section.flags & 0xff) == macho::kModInitPointers) {
      for (std::uint64_t at = 0; at + 8 <= section.size; at += 8) {
        std::uint64_t function;
        std::memcpy(&function, start + at, sizeof function);
        found.push_back(function);
      }
    } else if ((section.flags & 0xff) == macho::kInitOffsets) {
      for (std::uint64_t at = 0; at + 4 <= section.size; at += 4) {
        std::uint32_t offset;
        std::memcpy(&offset, start + at, sizeof offset);
        found.push_back(header() + offset);
      }
    }
  }
  return found;
}

}  // namespace mach_host
