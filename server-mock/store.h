// SPDX-License-Identifier: Apache-2.0
//
// What the server knows of its reports: one row a report, issues that group
// them, and counts by day and version. The bytes are in ReportFiles; every row
// can be made again from them.
//
// Threads: any; one connection writes, one reads, each behind its own lock.
// Every write is on disk when it returns. Times are Unix milliseconds of the
// server's clock. Throws DatabaseError.
#ifndef CAIRN_SERVER_STORE_H_
#define CAIRN_SERVER_STORE_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "database.h"

namespace cairn::server {

enum class ReportState {
  kWaiting = 0,      // stored and acknowledged, not yet decoded
  kDecoded = 1,      // in an issue
  kUndecodable = 2,  // bytes kept; `problem` says why
};
const char* Name(ReportState state);

// What decoding finds; see decoder.h.
struct Decoded {
  std::string title, signature;
  int64_t signature_version = 0;
  std::string kind;
  std::optional<int64_t> time_ms;  // of the crash, by the client's clock
  std::string app_id, app_version, app_build, environment, process, os;
  bool complete = false;
};

struct ReportRow {
  int64_t id = 0;  // order of arrival
  std::string uuid;
  int64_t received_ms = 0, bytes = 0;
  ReportState state = ReportState::kWaiting;
  std::string problem;
  std::optional<int64_t> issue;
  Decoded decoded;
};

struct Issue {
  int64_t id = 0;
  std::string app_id, signature, title;
  int64_t signature_version = 0;
  int64_t count = 0, first_seen_ms = 0, last_seen_ms = 0;
  std::string latest_report;
  std::vector<std::pair<std::string, int64_t>> versions;  // most seen first
  std::vector<std::pair<int64_t, int64_t>> days;  // day since 1970, count
};

struct Totals {
  int64_t reports = 0, waiting = 0, undecodable = 0, issues = 0;
};

class Store {
 public:
  static constexpr int64_t kDayMs = 86'400'000;
  // Decoding of one report is begun at most so often: a report that brings the
  // server down must not do it for ever.
  static constexpr int64_t kMaxAttempts = 3;

  explicit Store(const std::string& path);

  // False when the row is there already.
  bool AddReport(const std::string& uuid, int64_t bytes, int64_t received_ms);
  // The oldest waiting reports.
  std::vector<std::string> Waiting(int64_t limit);
  // Counts an attempt; returns how many there have been, this one included.
  int64_t BeginDecoding(const std::string& uuid);
  // Puts a waiting report into its issue, which is made if need be.
  void FinishDecoded(const std::string& uuid, const Decoded& decoded);
  void FinishUndecodable(const std::string& uuid, const std::string& why);

  std::optional<ReportRow> ReportOf(const std::string& uuid);
  // Newest first, with an id below `before`; of one issue, if given.
  std::vector<ReportRow> Reports(std::optional<int64_t> issue,
                                 int64_t before,
                                 int64_t limit);
  // Last seen first, behind (before_ms, before_id). `days` are those from
  // `first_day` on.
  std::vector<Issue> Issues(int64_t before_ms,
                            int64_t before_id,
                            int64_t limit,
                            int64_t first_day);
  std::optional<Issue> IssueOf(int64_t id, int64_t first_day);
  Totals Count();

 private:
  int64_t IssueFor(const Decoded& decoded, int64_t received_ms);
  void CountReport(int64_t issue,
                   const std::string& uuid,
                   const Decoded& decoded,
                   int64_t received_ms);
  void AddDetails(Issue* issue, int64_t first_day);

  std::mutex write_mutex_, read_mutex_;
  Connection write_;
  Connection read_;
};

}  // namespace cairn::server

#endif  // CAIRN_SERVER_STORE_H_
