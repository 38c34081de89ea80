// SPDX-License-Identifier: Apache-2.0
//
// What the server knows, as JSON (docs/server.md). Any thread; valid UTF-8
// always.
#ifndef CAIRN_SERVER_API_H_
#define CAIRN_SERVER_API_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store.h"

namespace cairn::server {

// Days shown in lists and on an issue's page, today included.
inline constexpr int64_t kListDays = 14;
inline constexpr int64_t kIssueDays = 60;

// {"issues": […], "next": "…" or null, "totals": {…}}
std::string IssuesJson(const std::vector<Issue>& issues,
                       bool more,
                       const Totals& totals,
                       int64_t today);
std::string IssueJson(const Issue& issue, int64_t today);
// {"reports": […], "next": "…" or null}
std::string ReportsJson(const std::vector<ReportRow>& reports, bool more);
// {…members…, "server": {…}}; `members` as report::ToJsonMembers returns them,
// `culprit` the index of the frame to look at first, if it is known.
std::string ReportJson(const ReportRow& report,
                       const std::string& members,
                       std::optional<size_t> culprit);
std::string ErrorJson(std::string_view error, std::string_view remedy);

// Where a list goes on; made by the lists' "next".
struct Cursor {
  int64_t time_ms = INT64_MAX;
  int64_t id = INT64_MAX;
};
// False: no cursor of ours. "" is the beginning.
bool ParseIssueCursor(const std::string& text, Cursor* cursor);
bool ParseReportCursor(const std::string& text, Cursor* cursor);

}  // namespace cairn::server

#endif  // CAIRN_SERVER_API_H_
