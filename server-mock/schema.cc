// SPDX-License-Identifier: Apache-2.0
#include "schema.h"

#include <iterator>
#include <string>

namespace cairn::server {
namespace {

// Steps are never changed, only added.
constexpr const char* kSteps[] = {
    R"sql(
CREATE TABLE issues(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  app_id TEXT NOT NULL,
  signature_version INTEGER NOT NULL,
  signature TEXT NOT NULL,
  title TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_seen_ms INTEGER NOT NULL,
  last_seen_ms INTEGER NOT NULL,
  latest_report TEXT NOT NULL,
  UNIQUE(app_id, signature_version, signature));
CREATE INDEX issues_by_time ON issues(last_seen_ms, id);
CREATE TABLE reports(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  received_ms INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  state INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  problem TEXT NOT NULL DEFAULT '',
  issue_id INTEGER REFERENCES issues(id),
  title TEXT NOT NULL DEFAULT '',
  signature TEXT NOT NULL DEFAULT '',
  signature_version INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL DEFAULT '',
  time_ms INTEGER,
  app_id TEXT NOT NULL DEFAULT '',
  app_version TEXT NOT NULL DEFAULT '',
  app_build TEXT NOT NULL DEFAULT '',
  environment TEXT NOT NULL DEFAULT '',
  process TEXT NOT NULL DEFAULT '',
  os TEXT NOT NULL DEFAULT '',
  complete INTEGER NOT NULL DEFAULT 0);
CREATE INDEX reports_by_issue ON reports(issue_id, id);
CREATE INDEX reports_by_state ON reports(state, id) WHERE state != 1;
CREATE TABLE issue_versions(
  issue_id INTEGER NOT NULL REFERENCES issues(id),
  version TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY(issue_id, version)) WITHOUT ROWID;
CREATE TABLE issue_days(
  issue_id INTEGER NOT NULL REFERENCES issues(id),
  day INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY(issue_id, day)) WITHOUT ROWID;
CREATE TABLE totals(
  state INTEGER PRIMARY KEY,
  count INTEGER NOT NULL);
CREATE TRIGGER report_added AFTER INSERT ON reports BEGIN
  INSERT INTO totals VALUES(new.state, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER report_moved AFTER UPDATE OF state ON reports BEGIN
  UPDATE totals SET count = count - 1 WHERE state = old.state;
  INSERT INTO totals VALUES(new.state, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
)sql"};

int64_t VersionOf(Connection& connection) {
  Statement statement(connection, "PRAGMA user_version");
  return statement.Step() ? statement.Int(0) : 0;
}

}  // namespace

void Migrate(Connection& connection) {
  constexpr int64_t newest = std::size(kSteps);
  int64_t version = VersionOf(connection);
  if (version > newest) {
    throw DatabaseError(
        "the database was made by a newer server; run that one, or restore a "
        "backup",
        0);
  }
  for (; version < newest; ++version) {
    Transaction transaction(connection);
    connection.Run(kSteps[version]);
    std::string next = "PRAGMA user_version=" + std::to_string(version + 1);
    connection.Run(next.c_str());
    transaction.Commit();
  }
}

}  // namespace cairn::server
