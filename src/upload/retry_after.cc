// SPDX-License-Identifier: Apache-2.0
#include "upload/retry_after.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

namespace cairn::upload {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan",
                                                      "Feb",
                                                      "Mar",
                                                      "Apr",
                                                      "May",
                                                      "Jun",
                                                      "Jul",
                                                      "Aug",
                                                      "Sep",
                                                      "Oct",
                                                      "Nov",
                                                      "Dec"};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Digits only; capped, so that no length overflows.
std::optional<int64_t> Digits(std::string_view text) {
  if (text.empty()) {
    return std::nullopt;
  }
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    value = std::min<int64_t>(value * 10 + (c - '0'), INT64_MAX / 100);
  }
  return value;
}

// "Sun, 06 Nov 1994 08:49:37 GMT". The obsolete forms of RFC 850 and asctime
// are not sent by any server that knows Retry-After.
std::optional<int64_t> Date(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != 29 || text.substr(3, 2) != ", " || text[7] != ' ' ||
      text[11] != ' ' || text[16] != ' ' || text[19] != ':' ||
      text[22] != ':' || text.substr(25) != " GMT") {
    return std::nullopt;
  }
  const auto month =
      std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const auto day_of_month = Digits(text.substr(5, 2));
  const auto year_number = Digits(text.substr(12, 4));
  const auto hour = Digits(text.substr(17, 2));
  const auto minute = Digits(text.substr(20, 2));
  const auto second = Digits(text.substr(23, 2));
  if (month == kMonths.end() || !day_of_month || !year_number || !hour ||
      !minute || !second || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  const year_month_day date(
      year(static_cast<int>(*year_number)),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin() + 1)),
      day(static_cast<unsigned>(*day_of_month)));
  if (!date.ok()) {
    return std::nullopt;
  }
  return sys_days(date).time_since_epoch().count() * int64_t{86400} +
         *hour * 3600 + *minute * 60 + *second;
}

}  // namespace

int64_t ParseRetryAfter(std::string_view value, int64_t now_unix_seconds) {
  const std::string_view text = Trimmed(value);
  int64_t wait = 0;
  if (const auto seconds = Digits(text)) {
    wait = *seconds;
  } else if (const auto date = Date(text)) {
    wait = *date - now_unix_seconds;
  }
  return std::clamp<int64_t>(wait, 0, kMaxRetryAfterSeconds);
}

}  // namespace cairn::upload
