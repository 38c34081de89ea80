// SPDX-License-Identifier: Apache-2.0
#include "report/utf8.h"

#include <cstdint>

namespace cairn::report {
namespace {

uint8_t At(std::string_view text, size_t index) {
  return index < text.size() ? static_cast<uint8_t>(text[index]) : 0;
}

bool IsContinuation(uint8_t byte) {
  return (byte & 0xc0) == 0x80;
}

}  // namespace

size_t Utf8SequenceBytes(std::string_view text) {
  const uint8_t first = At(text, 0);
  const uint8_t second = At(text, 1);
  if (text.empty()) {
    return 0;
  }
  if (first < 0x80) {
    return 1;
  }
  if (first < 0xc2 || first > 0xf4 || !IsContinuation(second)) {
    return 0;
  }
  if (first < 0xe0) {
    return 2;
  }
  if (!IsContinuation(At(text, 2))) {
    return 0;
  }
  if (first < 0xf0) {
    const bool overlong = first == 0xe0 && second < 0xa0;
    const bool surrogate = first == 0xed && second > 0x9f;
    return overlong || surrogate ? 0 : 3;
  }
  const bool overlong = first == 0xf0 && second < 0x90;
  const bool too_big = first == 0xf4 && second > 0x8f;
  return overlong || too_big || !IsContinuation(At(text, 3)) ? 0 : 4;
}

std::string MendUtf8(std::string_view text) {
  std::string mended;
  mended.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = Utf8SequenceBytes(text);
    if (bytes == 0) {
      mended += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      mended += text.substr(0, bytes);
      text.remove_prefix(bytes);
    }
  }
  return mended;
}

}  // namespace cairn::report
