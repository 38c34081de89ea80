// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a dying process → valid UTF-8.
#ifndef CAIRN_REPORT_UTF8_H_
#define CAIRN_REPORT_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::report {

// Length of the well-formed sequence at the start of `text` (Unicode 15, table
// 3-7: no overlong forms, no surrogates, nothing above U+10FFFF); 0 when there
// is none.
size_t Utf8SequenceBytes(std::string_view text);

// The text with each byte that is in no well-formed sequence replaced by
// U+FFFD. At most three times as long.
std::string MendUtf8(std::string_view text);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_UTF8_H_
