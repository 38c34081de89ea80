// SPDX-License-Identifier: Apache-2.0
//
// LEB128 and zig-zag, the report's integers.
//
// Crash time: yes.
#ifndef CAIRN_FORMAT_VARINT_H_
#define CAIRN_FORMAT_VARINT_H_

#include <cstddef>
#include <cstdint>

namespace cairn::format {

inline constexpr size_t kMaxVarintBytes = 10;

// Writes `value` to `out` (room for kMaxVarintBytes); returns the bytes used.
inline size_t PutVarint(uint8_t* out, uint64_t value) {
  size_t bytes = 0;
  while (value >= 0x80) {
    out[bytes++] = static_cast<uint8_t>(value) | 0x80;
    value >>= 7;
  }
  out[bytes++] = static_cast<uint8_t>(value);
  return bytes;
}

// Reads a value from the first `available` bytes. Returns the bytes used, 0
// when the value is cut or does not fit 64 bits.
inline size_t GetVarint(const uint8_t* in, size_t available, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < available && i < kMaxVarintBytes; ++i) {
    const uint64_t bits = in[i] & 0x7f;
    if (i == kMaxVarintBytes - 1 && bits > 1) {
      return 0;
    }
    result |= bits << (7 * i);
    if ((in[i] & 0x80) == 0) {
      *value = result;
      return i + 1;
    }
  }
  return 0;
}

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^
         static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

}  // namespace cairn::format

#endif  // CAIRN_FORMAT_VARINT_H_
