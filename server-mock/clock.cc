// SPDX-License-Identifier: Apache-2.0
#include "clock.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace cairn::server {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::milliseconds;
using std::chrono::sys_days;
using std::chrono::sys_time;
using std::chrono::year_month_day;

constexpr int64_t kMinMs = -62'167'219'200'000;  // 0000-01-01
constexpr int64_t kMaxMs = 253'402'300'799'999;  // 9999-12-31
constexpr int64_t kDayMs = 86'400'000;

std::string DateText(sys_days day) {
  year_month_day date(day);
  char text[32];
  std::snprintf(text,
                sizeof(text),
                "%04d-%02u-%02u",
                static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()));
  return text;
}

}  // namespace

int64_t UnixMs() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(now).count();
}

uint64_t SteadyMs() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<milliseconds>(now).count());
}

std::string TimeText(int64_t unix_ms) {
  sys_time<milliseconds> time(
      milliseconds(std::clamp(unix_ms, kMinMs, kMaxMs)));
  sys_days day = floor<days>(time);
  auto of_day = static_cast<unsigned>((time - day).count());
  char text[32];
  std::snprintf(text,
                sizeof(text),
                "T%02u:%02u:%02u.%03uZ",
                of_day / 3600000,
                of_day / 60000 % 60,
                of_day / 1000 % 60,
                of_day % 1000);
  return DateText(day) + text;
}

std::string DayText(int64_t day) {
  int64_t clamped = std::clamp(day, kMinMs / kDayMs, kMaxMs / kDayMs);
  return DateText(sys_days(days(clamped)));
}

}  // namespace cairn::server
