// SPDX-License-Identifier: Apache-2.0
//
// Reads numbers, one behind the other, from bytes in memory.
//
// Ordinary code. Never reads beyond the end: a read that would sets `ok()` to
// false for good and gives 0. The bytes are the caller's and stay his.
#ifndef CAIRN_SYMBOLICATE_DWARF_CURSOR_H_
#define CAIRN_SYMBOLICATE_DWARF_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "symbolicate/elf_format.h"

namespace cairn::symbolicate {

class DwarfCursor {
 public:
  DwarfCursor(const uint8_t* data, size_t bytes)
      : begin_(data), at_(data), end_(data + bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  uint8_t U8() { return Have(1) ? *at_++ : uint8_t{0}; }
  uint16_t U16() { return Have(2) ? elf::Load16(Step(2)) : uint16_t{0}; }
  uint32_t U32() { return Have(4) ? elf::Load32(Step(4)) : 0; }
  uint64_t U64() { return Have(8) ? elf::Load64(Step(8)) : 0; }
  // 1 to 8 bytes.
  uint64_t Unsigned(int bytes) {
    uint64_t value = 0;
    if (Have(static_cast<size_t>(bytes))) {
      for (int i = 0; i < bytes; ++i) {
        value |= uint64_t{*at_++} << (8 * i);
      }
    }
    return value;
  }
  uint64_t Uleb() {
    if (at_ != end_ && *at_ < 0x80) {
      return *at_++;
    }
    return LongUleb();
  }
  int64_t Sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; Have(1); shift += 7) {
      const uint8_t byte = *at_++;
      if (shift < 64) {
        value |= uint64_t{byte & 0x7fu} << shift;
      }
      if (byte < 0x80) {
        if (shift + 7 < 64 && (byte & 0x40) != 0) {
          value |= ~uint64_t{0} << (shift + 7);
        }
        break;
      }
    }
    return static_cast<int64_t>(value);
  }
  void SkipLeb() {
    while (Have(1) && *at_++ >= 0x80) {
    }
  }
  void Skip(uint64_t bytes) {
    if (bytes > left()) {
      Fail();
    } else {
      at_ += bytes;
    }
  }
  // Up to the next zero byte, which is stepped over.
  std::string_view Text() {
    const void* zero = left() == 0 ? nullptr : std::memchr(at_, 0, left());
    if (zero == nullptr) {
      Fail();
      return {};
    }
    const auto* stop = static_cast<const uint8_t*>(zero);
    const std::string_view text(reinterpret_cast<const char*>(at_),
                                static_cast<size_t>(stop - at_));
    at_ = stop + 1;
    return text;
  }
  void MoveTo(size_t offset) {
    if (offset > static_cast<size_t>(end_ - begin_)) {
      Fail();
    } else {
      at_ = begin_ + offset;
    }
  }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

 private:
  bool Have(size_t bytes) {
    if (bytes <= left()) {
      return true;
    }
    Fail();
    return false;
  }
  const uint8_t* Step(size_t bytes) {
    const uint8_t* at = at_;
    at_ += bytes;
    return at;
  }
  uint64_t LongUleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; Have(1); shift += 7) {
      const uint8_t byte = *at_++;
      if (shift < 64) {
        value |= uint64_t{byte & 0x7fu} << shift;
      }
      if (byte < 0x80) {
        break;
      }
    }
    return value;
  }

  const uint8_t* begin_;
  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_CURSOR_H_
