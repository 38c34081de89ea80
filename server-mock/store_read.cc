// SPDX-License-Identifier: Apache-2.0
#include "store.h"

namespace cairn::server {
namespace {

constexpr char kReportColumns[] =
    "SELECT id, uuid, received_ms, bytes, state, problem, issue_id, title,"
    " signature, signature_version, kind, time_ms, app_id, app_version,"
    " app_build, environment, process, os, complete FROM reports ";
constexpr char kIssueColumns[] =
    "SELECT id, app_id, signature_version, signature, title, count,"
    " first_seen_ms, last_seen_ms, latest_report FROM issues ";

ReportRow ReportAt(const Statement& row) {
  ReportRow report;
  report.id = row.Int(0);
  report.uuid = row.Text(1);
  report.received_ms = row.Int(2);
  report.bytes = row.Int(3);
  report.state = static_cast<ReportState>(row.Int(4));
  report.problem = row.Text(5);
  if (!row.IsNull(6)) {
    report.issue = row.Int(6);
  }
  Decoded& decoded = report.decoded;
  decoded.title = row.Text(7);
  decoded.signature = row.Text(8);
  decoded.signature_version = row.Int(9);
  decoded.kind = row.Text(10);
  if (!row.IsNull(11)) {
    decoded.time_ms = row.Int(11);
  }
  decoded.app_id = row.Text(12);
  decoded.app_version = row.Text(13);
  decoded.app_build = row.Text(14);
  decoded.environment = row.Text(15);
  decoded.process = row.Text(16);
  decoded.os = row.Text(17);
  decoded.complete = row.Int(18) != 0;
  return report;
}

Issue IssueAt(const Statement& row) {
  Issue issue;
  issue.id = row.Int(0);
  issue.app_id = row.Text(1);
  issue.signature_version = row.Int(2);
  issue.signature = row.Text(3);
  issue.title = row.Text(4);
  issue.count = row.Int(5);
  issue.first_seen_ms = row.Int(6);
  issue.last_seen_ms = row.Int(7);
  issue.latest_report = row.Text(8);
  return issue;
}

}  // namespace

std::optional<ReportRow> Store::ReportOf(const std::string& uuid) {
  std::lock_guard lock(read_mutex_);
  Statement query(read_, std::string(kReportColumns) + "WHERE uuid = ?");
  query.Bind(uuid);
  return query.Step() ? std::optional(ReportAt(query)) : std::nullopt;
}

std::vector<ReportRow> Store::Reports(std::optional<int64_t> issue,
                                      int64_t before,
                                      int64_t limit) {
  std::lock_guard lock(read_mutex_);
  std::string where = issue ? "WHERE issue_id = ? AND id < ?" : "WHERE id < ?";
  Statement query(read_, kReportColumns + where + " ORDER BY id DESC LIMIT ?");
  if (issue) {
    query.Bind(*issue);
  }
  query.Bind(before).Bind(limit);
  std::vector<ReportRow> reports;
  while (query.Step()) {
    reports.push_back(ReportAt(query));
  }
  return reports;
}

void Store::AddDetails(Issue* issue, int64_t first_day) {
  Statement versions(read_,
                     "SELECT version, count FROM issue_versions"
                     " WHERE issue_id = ? ORDER BY count DESC, version DESC"
                     " LIMIT 20");
  versions.Bind(issue->id);
  while (versions.Step()) {
    issue->versions.emplace_back(versions.Text(0), versions.Int(1));
  }
  Statement days(read_,
                 "SELECT day, count FROM issue_days"
                 " WHERE issue_id = ? AND day >= ? ORDER BY day");
  days.Bind(issue->id).Bind(first_day);
  while (days.Step()) {
    issue->days.emplace_back(days.Int(0), days.Int(1));
  }
}

std::vector<Issue> Store::Issues(int64_t before_ms,
                                 int64_t before_id,
                                 int64_t limit,
                                 int64_t first_day) {
  std::lock_guard lock(read_mutex_);
  std::vector<Issue> issues;
  Statement query(read_,
                  std::string(kIssueColumns) +
                      "WHERE (last_seen_ms, id) < (?, ?)"
                      " ORDER BY last_seen_ms DESC, id DESC LIMIT ?");
  query.Bind(before_ms).Bind(before_id).Bind(limit);
  while (query.Step()) {
    issues.push_back(IssueAt(query));
  }
  for (Issue& issue : issues) {
    AddDetails(&issue, first_day);
  }
  return issues;
}

std::optional<Issue> Store::IssueOf(int64_t id, int64_t first_day) {
  std::lock_guard lock(read_mutex_);
  Statement query(read_, std::string(kIssueColumns) + "WHERE id = ?");
  query.Bind(id);
  if (!query.Step()) {
    return std::nullopt;
  }
  Issue issue = IssueAt(query);
  AddDetails(&issue, first_day);
  return issue;
}

Totals Store::Count() {
  std::lock_guard lock(read_mutex_);
  Totals totals;
  Statement states(read_, "SELECT state, count FROM totals");
  while (states.Step()) {
    totals.reports += states.Int(1);
    switch (static_cast<ReportState>(states.Int(0))) {
      case ReportState::kWaiting:
        totals.waiting = states.Int(1);
        break;
      case ReportState::kUndecodable:
        totals.undecodable = states.Int(1);
        break;
      case ReportState::kDecoded:
        break;
    }
  }
  Statement issues(read_, "SELECT count(*) FROM issues");
  totals.issues = issues.Step() ? issues.Int(0) : 0;
  return totals;
}

}  // namespace cairn::server
