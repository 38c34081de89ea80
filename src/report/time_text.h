// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_REPORT_TIME_TEXT_H_
#define CAIRN_REPORT_TIME_TEXT_H_

#include <cstdint>
#include <string>

namespace cairn::report {

// Unix time in nanoseconds → RFC 3339, UTC, milliseconds:
// "2026-01-31T23:59:59.123Z".
std::string Rfc3339(uint64_t time_ns);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_TIME_TEXT_H_
