// SPDX-License-Identifier: Apache-2.0
//
// Numbers and bytes in hexadecimal, lower case.
#ifndef CAIRN_REPORT_HEX_H_
#define CAIRN_REPORT_HEX_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace cairn::report {

inline constexpr char kHexDigits[] = "0123456789abcdef";

// "0x1f".
inline std::string HexNumber(uint64_t value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), kHexDigits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + digits;
}

// "01ff".
inline std::string HexBytes(const uint8_t* bytes, size_t size) {
  std::string text;
  text.reserve(size * 2);
  for (size_t i = 0; i < size; ++i) {
    text += kHexDigits[bytes[i] >> 4];
    text += kHexDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace cairn::report

#endif  // CAIRN_REPORT_HEX_H_
