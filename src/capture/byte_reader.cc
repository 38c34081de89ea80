// SPDX-License-Identifier: Apache-2.0
#include "capture/byte_reader.h"

namespace cairn::capture {
namespace {

constexpr unsigned kMaxLebBytes = 16;

}  // namespace

void ByteReader::Skip(uint64_t bytes) {
  if (bytes > end_ - address_ || address_ > end_) {
    Fail();
    return;
  }
  address_ += bytes;
}

void ByteReader::MoveTo(uint64_t address, uint64_t end) {
  address_ = address;
  end_ = end;
}

bool ByteReader::Fill() {
  buffered_at_ = address_;
  buffered_ = memory_.ReadSome(address_, buffer_, sizeof(buffer_));
  return buffered_ > 0;
}

bool ByteReader::Take(void* out, size_t bytes) {
  if (!ok_ || address_ > end_ || bytes > end_ - address_) {
    Fail();
    return false;
  }
  auto* to = static_cast<uint8_t*>(out);
  for (size_t i = 0; i < bytes; ++i, ++address_) {
    if (address_ - buffered_at_ >= buffered_ && !Fill()) {
      Fail();
      return false;
    }
    to[i] = buffer_[address_ - buffered_at_];
  }
  return true;
}

uint64_t ByteReader::Unsigned(size_t bytes) {
  uint8_t raw[8];
  if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) ||
      !Take(raw, bytes)) {
    Fail();
    return 0;
  }
  uint64_t value = 0;
  for (size_t i = bytes; i > 0; --i) {
    value = value << 8 | raw[i - 1];
  }
  return value;
}

int64_t ByteReader::Signed(size_t bytes) {
  const uint64_t value = Unsigned(bytes);
  if (!ok_) {
    return 0;
  }
  const unsigned unused = static_cast<unsigned>(64 - 8 * bytes);
  return static_cast<int64_t>(value << unused) >> unused;
}

uint64_t ByteReader::Uleb() {
  uint64_t value = 0;
  for (unsigned i = 0; i < kMaxLebBytes; ++i) {
    const uint8_t byte = U8();
    if (7 * i < 64) {
      value |= uint64_t{byte & 0x7fu} << (7 * i);
    }
    if ((byte & 0x80) == 0) {
      return ok_ ? value : 0;
    }
  }
  Fail();
  return 0;
}

int64_t ByteReader::Sleb() {
  uint64_t value = 0;
  for (unsigned i = 0; i < kMaxLebBytes; ++i) {
    const uint8_t byte = U8();
    if (7 * i < 64) {
      value |= uint64_t{byte & 0x7fu} << (7 * i);
    }
    if ((byte & 0x80) == 0) {
      if ((byte & 0x40) != 0 && 7 * (i + 1) < 64) {
        value |= ~uint64_t{0} << (7 * (i + 1));
      }
      return ok_ ? static_cast<int64_t>(value) : 0;
    }
  }
  Fail();
  return 0;
}

}  // namespace cairn::capture
