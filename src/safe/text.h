// SPDX-License-Identifier: Apache-2.0
//
// Strings of fixed size: what does not fit is left out, never written behind
// the end.
//
// Crash time: yes.
#ifndef CAIRN_SAFE_TEXT_H_
#define CAIRN_SAFE_TEXT_H_

#include <cstddef>
#include <cstdint>

namespace cairn::safe {

template <size_t kCapacity>
class Text {
 public:
  Text& Add(const char* text) {
    while (*text != '\0' && length_ + 1 < kCapacity) {
      data_[length_++] = *text++;
    }
    data_[length_] = '\0';
    return *this;
  }
  Text& Add(const char* text, size_t bytes) {
    for (size_t i = 0; i < bytes && length_ + 1 < kCapacity; ++i) {
      data_[length_++] = text[i];
    }
    data_[length_] = '\0';
    return *this;
  }
  Text& AddNumber(uint64_t value) {
    char digits[20];
    size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    while (count > 0 && length_ + 1 < kCapacity) {
      data_[length_++] = digits[--count];
    }
    data_[length_] = '\0';
    return *this;
  }
  const char* c_str() const { return data_; }
  size_t length() const { return length_; }

 private:
  char data_[kCapacity] = {};
  size_t length_ = 0;
};

// Reads decimal digits from `text[*position…length)`; advances. 0 when none.
inline uint64_t ParseNumber(const char* text, size_t length, size_t* position) {
  uint64_t value = 0;
  while (*position < length && text[*position] >= '0' &&
         text[*position] <= '9') {
    value = value * 10 + static_cast<uint64_t>(text[(*position)++] - '0');
  }
  return value;
}

// The same for lower-case hexadecimal digits.
inline uint64_t ParseHex(const char* text, size_t length, size_t* position) {
  uint64_t value = 0;
  while (*position < length) {
    const char c = text[*position];
    uint64_t digit;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<uint64_t>(c - 'a') + 10;
    } else {
      break;
    }
    value = value << 4 | digit;
    ++*position;
  }
  return value;
}

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_TEXT_H_
