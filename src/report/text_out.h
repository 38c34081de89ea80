// SPDX-License-Identifier: Apache-2.0
//
// What the terminal text of a report is put together from: colour, cleaning,
// padding.
#ifndef CAIRN_REPORT_TEXT_OUT_H_
#define CAIRN_REPORT_TEXT_OUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/report.h"
#include "report/text.h"

namespace cairn::report {

// Text of a report made fit for a terminal: valid UTF-8, and everything that
// would steer the terminal or reorder the line (control characters, C1
// controls, bidirectional overrides) written as \n, \t, \x1b or \u{202e}.
std::string Clean(std::string_view text);

// Columns that valid UTF-8 takes, one a character.
size_t Columns(std::string_view text);

// "1 h 2 min", "61.2 s", "250 ms".
std::string Duration(uint64_t milliseconds);

enum class Style { kPlain, kTitle, kAlarm, kCode, kDim };

class TextOut {
 public:
  explicit TextOut(const TextOptions& options) : options_(options) {}

  const TextOptions& options() const { return options_; }
  std::string Painted(Style style, const std::string& text) const;

  void Line(const std::string& line = "");
  // A blank line and a title.
  void Title(const std::string& title);
  // "  name      value", nothing when the value is empty.
  void Fact(const std::string& name, const std::string& value);

  // A hostile report repeats long names: rows of stacks stop here.
  bool IsFull() const { return text_.size() > kFullBytes; }
  std::string Take() { return std::move(text_); }

 private:
  static constexpr size_t kFullBytes = 64u << 20;
  TextOptions options_;
  std::string text_;
};

// Sections of the text, each nothing when there is nothing to say.
void PrintHead(const Report& report, TextOut* out);
void PrintThreads(const Report& report, TextOut* out);
void PrintImages(const Report& report, TextOut* out);
void PrintTrail(const Report& report, TextOut* out);
void PrintLimits(const Report& report, TextOut* out);

// The function (of an inlined call: `symbol` of the frame), else
// "module+0x1234", else the address; for `raw` never a name.
std::string PlaceName(const Report& report,
                      const Frame& frame,
                      bool raw,
                      size_t symbol = 0);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_TEXT_OUT_H_
