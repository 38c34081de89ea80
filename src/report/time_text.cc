// SPDX-License-Identifier: Apache-2.0
#include "report/time_text.h"

#include <cstdio>
#include <ctime>

namespace cairn::report {

std::string Rfc3339(uint64_t time_ns) {
  const std::time_t seconds = static_cast<std::time_t>(time_ns / 1000000000);
  const unsigned milliseconds = static_cast<unsigned>(time_ns / 1000000 % 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
  char text[48];
  std::snprintf(text, sizeof(text), "%s.%03uZ", date, milliseconds);
  return text;
}

}  // namespace cairn::report
