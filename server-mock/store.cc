// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include "schema.h"

namespace cairn::server {
namespace {

constexpr int64_t kStateDecoded = static_cast<int64_t>(ReportState::kDecoded);
constexpr int64_t kStateWaiting = static_cast<int64_t>(ReportState::kWaiting);
constexpr int64_t kStateUndecodable =
    static_cast<int64_t>(ReportState::kUndecodable);

}  // namespace

const char* Name(ReportState state) {
  switch (state) {
    case ReportState::kWaiting:
      return "waiting";
    case ReportState::kDecoded:
      return "decoded";
    case ReportState::kUndecodable:
      break;
  }
  return "undecodable";
}

Store::Store(const std::string& path) : write_(path), read_(path) {
  Migrate(write_);
}

bool Store::AddReport(const std::string& uuid,
                      int64_t bytes,
                      int64_t received_ms) {
  std::lock_guard lock(write_mutex_);
  Statement insert(write_,
                   "INSERT OR IGNORE INTO reports"
                   "(uuid, received_ms, bytes, state, attempts)"
                   " VALUES(?, ?, ?, ?, 0)");
  insert.Bind(uuid).Bind(received_ms).Bind(bytes).Bind(kStateWaiting).Step();
  return write_.Changes() > 0;
}

std::vector<std::string> Store::Waiting(int64_t limit) {
  std::lock_guard lock(read_mutex_);
  Statement query(
      read_, "SELECT uuid FROM reports WHERE state = ? ORDER BY id LIMIT ?");
  query.Bind(kStateWaiting).Bind(limit);
  std::vector<std::string> uuids;
  while (query.Step()) {
    uuids.push_back(query.Text(0));
  }
  return uuids;
}

int64_t Store::BeginDecoding(const std::string& uuid) {
  std::lock_guard lock(write_mutex_);
  Statement update(write_,
                   "UPDATE reports SET attempts = attempts + 1"
                   " WHERE uuid = ? RETURNING attempts");
  update.Bind(uuid);
  int64_t attempts = update.Step() ? update.Int(0) : 0;
  while (update.Step()) {
  }
  return attempts;
}

int64_t Store::IssueFor(const Decoded& decoded, int64_t received_ms) {
  Statement find(write_,
                 "SELECT id FROM issues WHERE app_id = ?"
                 " AND signature_version = ? AND signature = ?");
  find.Bind(decoded.app_id)
      .Bind(decoded.signature_version)
      .Bind(decoded.signature);
  if (find.Step()) {
    return find.Int(0);
  }
  Statement insert(write_,
                   "INSERT INTO issues(app_id, signature_version, signature,"
                   " title, count, first_seen_ms, last_seen_ms, latest_report)"
                   " VALUES(?, ?, ?, '', 0, ?, ?, '')");
  insert.Bind(decoded.app_id)
      .Bind(decoded.signature_version)
      .Bind(decoded.signature)
      .Bind(received_ms)
      .Bind(received_ms)
      .Step();
  return write_.LastRowId();
}

void Store::CountReport(int64_t issue,
                        const std::string& uuid,
                        const Decoded& decoded,
                        int64_t received_ms) {
  Statement(write_,
            "UPDATE issues SET count = count + 1, title = ?,"
            " first_seen_ms = min(first_seen_ms, ?),"
            " last_seen_ms = max(last_seen_ms, ?), latest_report = ?"
            " WHERE id = ?")
      .Bind(decoded.title)
      .Bind(received_ms)
      .Bind(received_ms)
      .Bind(uuid)
      .Bind(issue)
      .Step();
  Statement(write_,
            "INSERT INTO issue_versions VALUES(?, ?, 1)"
            " ON CONFLICT DO UPDATE SET count = count + 1")
      .Bind(issue)
      .Bind(decoded.app_version)
      .Step();
  Statement(write_,
            "INSERT INTO issue_days VALUES(?, ?, 1)"
            " ON CONFLICT DO UPDATE SET count = count + 1")
      .Bind(issue)
      .Bind(received_ms / kDayMs)
      .Step();
}

void Store::FinishDecoded(const std::string& uuid, const Decoded& decoded) {
  std::lock_guard lock(write_mutex_);
  Transaction transaction(write_);
  Statement find(
      write_, "SELECT received_ms FROM reports WHERE uuid = ? AND state = ?");
  find.Bind(uuid).Bind(kStateWaiting);
  if (!find.Step()) {
    return;
  }
  int64_t received_ms = find.Int(0);
  int64_t issue = IssueFor(decoded, received_ms);
  CountReport(issue, uuid, decoded, received_ms);
  Statement update(write_,
                   "UPDATE reports SET state = ?, issue_id = ?, title = ?,"
                   " signature = ?, signature_version = ?, kind = ?,"
                   " app_id = ?, app_version = ?, app_build = ?,"
                   " environment = ?, process = ?, os = ?, complete = ?,"
                   " time_ms = nullif(?, 0) WHERE uuid = ?");
  update.Bind(kStateDecoded)
      .Bind(issue)
      .Bind(decoded.title)
      .Bind(decoded.signature)
      .Bind(decoded.signature_version)
      .Bind(decoded.kind)
      .Bind(decoded.app_id)
      .Bind(decoded.app_version)
      .Bind(decoded.app_build)
      .Bind(decoded.environment)
      .Bind(decoded.process)
      .Bind(decoded.os)
      .Bind(int64_t{decoded.complete})
      .Bind(decoded.time_ms.value_or(0))
      .Bind(uuid)
      .Step();
  transaction.Commit();
}

void Store::FinishUndecodable(const std::string& uuid, const std::string& why) {
  std::lock_guard lock(write_mutex_);
  Statement(write_,
            "UPDATE reports SET state = ?, problem = ?"
            " WHERE uuid = ? AND state = ?")
      .Bind(kStateUndecodable)
      .Bind(why)
      .Bind(uuid)
      .Bind(kStateWaiting)
      .Step();
}

}  // namespace cairn::server
