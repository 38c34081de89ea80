// SPDX-License-Identifier: Apache-2.0
//
// The time, and how it is written. Any thread.
#ifndef CAIRN_SERVER_CLOCK_H_
#define CAIRN_SERVER_CLOCK_H_

#include <cstdint>
#include <string>

namespace cairn::server {

int64_t UnixMs();
// Never goes back; from an unknown start.
uint64_t SteadyMs();
// RFC 3339 in UTC, to the millisecond. Years 0 to 9999; others are clamped.
std::string TimeText(int64_t unix_ms);
// "2026-12-01" for days since 1970.
std::string DayText(int64_t day);

}  // namespace cairn::server

#endif  // CAIRN_SERVER_CLOCK_H_
