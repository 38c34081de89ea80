// SPDX-License-Identifier: Apache-2.0
//
// Rebases and binds, in both encodings: the opcodes of LC_DYLD_INFO and the
// chains of LC_DYLD_CHAINED_FIXUPS (values: <mach-o/loader.h>,
// <mach-o/fixup-chains.h>).
#include <cstring>
#include <stdexcept>

#include "image.h"
#include "macho_file.h"

namespace mach_host {
namespace {

// Opcodes of a rebase or bind program: high nibble opcode, low nibble
// immediate.
class Opcodes {
 public:
  Opcodes(const std::vector<std::uint8_t>& file,
          std::uint32_t offset,
          std::uint32_t size)
      : file_(file), at_(offset), end_(std::uint64_t{offset} + size) {
    if (end_ > file.size())
      throw std::runtime_error("fix-ups run over the file's end");
  }
  bool more() const { return at_ < end_; }
  std::uint8_t Byte() {
    if (at_ >= end_)
      throw std::runtime_error("fix-ups are cut");
    return file_[at_++];
  }
  std::uint64_t Uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = Byte();
      if (shift < 64)
        value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0)
        return value;
    }
  }
  std::int64_t Sleb() {
    std::int64_t value = 0;
    for (unsigned shift = 0;;) {
      const std::uint8_t byte = Byte();
      if (shift < 64)
        value |= static_cast<std::int64_t>(byte & 0x7fu) << shift;
      shift += 7;
      if ((byte & 0x80) != 0)
        continue;
      if (shift < 64 && (byte & 0x40) != 0)
        value |= -(std::int64_t{1} << shift);
      return value;
    }
  }
  std::string Text() {
    std::string text;
    while (const std::uint8_t byte = Byte())
      text += static_cast<char>(byte);
    return text;
  }

 private:
  const std::vector<std::uint8_t>& file_;
  std::uint64_t at_, end_;
};

}  // namespace

void Image::RebaseClassic() {
  Opcodes in(file_, rebase_offset_, rebase_size_);
  std::uint64_t address = 0;
  const auto rebase = [&] {
    std::uint64_t value;
    if (!Contains(address))
      throw std::runtime_error(path_ + ": a rebase lies outside");
    std::memcpy(&value, reinterpret_cast<void*>(address), sizeof value);
    Store(address, value + slide_);
    address += 8;
  };
  while (in.more()) {
    const std::uint8_t byte = in.Byte(), immediate = byte & 0xf;
    std::uint64_t count, skip;
    switch (byte & 0xf0) {
      case 0x00:
        return;
      case 0x10:  // SET_TYPE_IMM
        break;
      case 0x20:  // SET_SEGMENT_AND_OFFSET_ULEB
        address = SegmentAddress(immediate) + in.Uleb();
        break;
      case 0x30:  // ADD_ADDR_ULEB
        address += in.Uleb();
        break;
      case 0x40:  // ADD_ADDR_IMM_SCALED
        address += immediate * 8u;
        break;
      case 0x50:  // DO_REBASE_IMM_TIMES
        for (unsigned i = 0; i < immediate; ++i)
          rebase();
        break;
      case 0x60:  // DO_REBASE_ULEB_TIMES
        for (count = in.Uleb(); count != 0; --count)
          rebase();
        break;
      case 0x70:  // DO_REBASE_ADD_ADDR_ULEB
        rebase();
        address += in.Uleb();
        break;
      case 0x80:  // DO_REBASE_ULEB_TIMES_SKIPPING_ULEB
        count = in.Uleb(), skip = in.Uleb();
        for (; count != 0; --count)
          rebase(), address += skip;
        break;
      default:
        throw std::runtime_error(path_ + ": unknown rebase opcode");
    }
  }
}

void Image::RunBindOpcodes(std::uint32_t offset,
                           std::uint32_t size,
                           bool lazy,
                           const Resolver& resolve) {
  if (size == 0)
    return;
  Opcodes in(file_, offset, size);
  std::uint64_t address = 0, count, skip;
  std::int64_t addend = 0;
  std::string name;
  bool weak = false;
  const auto bind = [&] {
    const std::uint64_t value = Resolve(resolve, name, weak);
    if (value != 0 || weak)
      Store(address, value == 0 ? 0 : value + addend);
    address += 8;
  };
  while (in.more()) {
    const std::uint8_t byte = in.Byte(), immediate = byte & 0xf;
    switch (byte & 0xf0) {
      case 0x00:  // DONE: a lazy program has one after each pointer
        if (!lazy)
          return;
        break;
      case 0x10:  // SET_DYLIB_ORDINAL_IMM
      case 0x30:  // SET_DYLIB_SPECIAL_IMM
        break;
      case 0x20:  // SET_DYLIB_ORDINAL_ULEB
        in.Uleb();
        break;
      case 0x40:  // SET_SYMBOL_TRAILING_FLAGS_IMM; 1: weak import
        weak = (immediate & 1) != 0;
        name = in.Text();
        break;
      case 0x50:  // SET_TYPE_IMM
        break;
      case 0x60:  // SET_ADDEND_SLEB
        addend = in.Sleb();
        break;
      case 0x70:  // SET_SEGMENT_AND_OFFSET_ULEB
        address = SegmentAddress(immediate) + in.Uleb();
        break;
      case 0x80:  // ADD_ADDR_ULEB
        address += in.Uleb();
        break;
      case 0x90:  // DO_BIND
        bind();
        break;
      case 0xa0:  // DO_BIND_ADD_ADDR_ULEB
        bind();
        address += in.Uleb();
        break;
      case 0xb0:  // DO_BIND_ADD_ADDR_IMM_SCALED
        bind();
        address += immediate * 8u;
        break;
      case 0xc0:  // DO_BIND_ULEB_TIMES_SKIPPING_ULEB
        count = in.Uleb(), skip = in.Uleb();
        for (; count != 0; --count)
          bind(), address += skip;
        break;
      default:
        throw std::runtime_error(path_ + ": unknown bind opcode");
    }
  }
}

// Every pointer of every chain. Formats 2 and 6: 51 low bits of a rebase
// (target 36, high8 8, reserved 7), 12 bits to the next in units of 4, top bit
// bind; a bind has a 24-bit ordinal and an 8-bit addend.
void Image::WalkChains(const Resolver* resolve) {
  macho::ChainedHeader header;
  const std::uint8_t* base = &file_.at(chained_offset_);
  std::memcpy(&header, base, sizeof header);
  if (header.imports_format != macho::kImport)
    throw std::runtime_error(path_ + ": only DYLD_CHAINED_IMPORT is known");
  std::vector<std::uint64_t> targets;
  for (std::uint32_t i = 0; i < header.imports_count; ++i) {
    std::uint32_t import;  // library ordinal 8, weak 1, name 23
    std::memcpy(&import, base + header.imports_offset + 4 * i, sizeof import);
    const std::string name = reinterpret_cast<const char*>(
        base + header.symbols_offset + (import >> 9));
    targets.push_back(Resolve(*resolve, name, (import & 0x100) != 0));
  }
  const std::uint8_t* starts = base + header.starts_offset;
  std::uint32_t segment_count;
  std::memcpy(&segment_count, starts, sizeof segment_count);
  for (std::uint32_t s = 0; s < segment_count; ++s) {
    std::uint32_t offset;
    std::memcpy(&offset, starts + 4 + 4 * s, sizeof offset);
    if (offset == 0)
      continue;
    macho::ChainedStarts start;
    std::memcpy(&start, starts + offset, 22);
    if (start.pointer_format != macho::kPointer64 &&
        start.pointer_format != macho::kPointer64Offset)
      throw std::runtime_error(path_ + ": unknown chained pointer format");
    for (std::uint16_t page = 0; page < start.page_count; ++page) {
      std::uint16_t first;
      std::memcpy(&first, starts + offset + 22 + 2 * page, sizeof first);
      if (first == macho::kNoChain)
        continue;
      std::uint64_t at = this->header() + start.segment_offset +
                         std::uint64_t{page} * start.page_size + first;
      for (;;) {
        std::uint64_t raw;
        if (!Contains(at))
          throw std::runtime_error(path_ + ": a chain leaves the image");
        std::memcpy(&raw, reinterpret_cast<void*>(at), sizeof raw);
        const std::uint64_t next = (raw >> 51) & 0xfff;
        if ((raw >> 63) != 0) {
          const std::uint64_t target = targets.at(raw & 0xffffff);
          Store(at, target == 0 ? 0 : target + ((raw >> 24) & 0xff));
        } else {
          const std::uint64_t high = ((raw >> 36) & 0xff) << 56;
          const std::uint64_t target = raw & 0xfffffffffull;
          const std::uint64_t from = start.pointer_format == macho::kPointer64
                                         ? slide_
                                         : this->header();
          Store(at, (target + from) | high);
        }
        if (next == 0)
          break;
        at += next * 4;
      }
    }
  }
}

void Image::Bind(const Resolver& resolve) {
  if (chained_size_ != 0)
    return WalkChains(&resolve);
  RunBindOpcodes(bind_offset_, bind_size_, false, resolve);
  RunBindOpcodes(lazy_offset_, lazy_size_, true, resolve);
  // Weak definitions: one image, so each already points at its own definition;
  // names that only another image could override are looked up and left alone
  // if absent.
  RunBindOpcodes(
      weak_offset_, weak_size_, false, [&](const std::string& name, bool) {
        const std::uint64_t own = FindSymbol(name);
        return own != 0 ? own : resolve(name, false);
      });
}

}  // namespace mach_host
