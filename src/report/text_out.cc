// SPDX-License-Identifier: Apache-2.0
#include "report/text_out.h"

#include <algorithm>
#include <cstdio>

#include "report/hex.h"
#include "report/image_text.h"
#include "report/utf8.h"

namespace cairn::report {
namespace {

constexpr size_t kFactColumns = 12;

uint32_t CodePoint(std::string_view sequence) {
  const uint8_t first = static_cast<uint8_t>(sequence[0]);
  if (sequence.size() == 1) {
    return first;
  }
  uint32_t value = first & (0xffu >> (sequence.size() + 1));
  for (const char c : sequence.substr(1)) {
    value = value << 6 | (static_cast<uint8_t>(c) & 0x3f);
  }
  return value;
}

// Unicode 15: Cc, the bidirectional controls, line and paragraph separators.
bool SteersTerminal(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
         (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x200e ||
         code == 0x200f || code == 0x061c || code == 0x2028 || code == 0x2029;
}

std::string Escaped(uint32_t code) {
  if (code == '\n') {
    return "\\n";
  }
  if (code == '\t') {
    return "\\t";
  }
  char text[16];
  std::snprintf(text, sizeof(text), code < 0x80 ? "\\x%02x" : "\\u{%x}", code);
  return text;
}

}  // namespace

std::string Clean(std::string_view text) {
  const std::string mended = MendUtf8(text);
  std::string clean;
  clean.reserve(mended.size());
  for (size_t at = 0; at < mended.size();) {
    const std::string_view rest = std::string_view(mended).substr(at);
    const std::string_view sequence = rest.substr(0, Utf8SequenceBytes(rest));
    const uint32_t code = CodePoint(sequence);
    if (SteersTerminal(code)) {
      clean += Escaped(code);
    } else {
      clean += sequence;
    }
    at += sequence.size();
  }
  return clean;
}

size_t Columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string Duration(uint64_t milliseconds) {
  const uint64_t seconds = milliseconds / 1000;
  if (seconds < 1) {
    return std::to_string(milliseconds) + " ms";
  }
  if (seconds < 120) {
    return std::to_string(seconds) + "." +
           std::to_string(milliseconds / 100 % 10) + " s";
  }
  const uint64_t minutes = seconds / 60;
  if (minutes < 120) {
    return std::to_string(minutes) + " min " + std::to_string(seconds % 60) +
           " s";
  }
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) +
         " min";
}

std::string TextOut::Painted(Style style, const std::string& text) const {
  const char* code = nullptr;
  switch (style) {
    case Style::kPlain:
      break;
    case Style::kTitle:
      code = "\x1b[1m";
      break;
    case Style::kAlarm:
      code = "\x1b[1;31m";
      break;
    case Style::kCode:
      code = "\x1b[36m";
      break;
    case Style::kDim:
      code = "\x1b[2m";
      break;
  }
  return options_.color && code != nullptr && !text.empty()
             ? code + text + "\x1b[0m"
             : text;
}

void TextOut::Line(const std::string& line) {
  text_ += line;
  text_ += '\n';
}

void TextOut::Title(const std::string& title) {
  Line();
  Line(Painted(Style::kTitle, title));
}

void TextOut::Fact(const std::string& name, const std::string& value) {
  if (!value.empty()) {
    const size_t pad =
        name.size() < kFactColumns ? kFactColumns - name.size() : size_t{1};
    Line("  " + Painted(Style::kDim, name) + std::string(pad, ' ') + value);
  }
}

std::string PlaceName(const Report& report,
                      const Frame& frame,
                      bool raw,
                      size_t symbol) {
  if (!raw && symbol < frame.symbols.size() &&
      !frame.symbols[symbol].function.empty()) {
    return Clean(frame.symbols[symbol].function);
  }
  if (frame.image && *frame.image < report.images.size()) {
    return Clean(BaseName(report.images[*frame.image].path)) + "+" +
           HexNumber(frame.image_offset);
  }
  return HexNumber(frame.address);
}

}  // namespace cairn::report
