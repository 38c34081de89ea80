// SPDX-License-Identifier: Apache-2.0
#include "database.h"

#include <sqlite3.h>

namespace cairn::server {

DatabaseError::DatabaseError(const std::string& what, int code)
    : std::runtime_error(what), full((code & 0xff) == SQLITE_FULL) {}

Connection::Connection(const std::string& path) {
  int code = sqlite3_open_v2(path.c_str(),
                             &handle_,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                 SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
                             nullptr);
  if (code != SQLITE_OK) {
    std::string text = path + ": " + sqlite3_errstr(code);
    sqlite3_close(handle_);
    throw DatabaseError(text, code);
  }
  try {
    sqlite3_busy_timeout(handle_, 10000);
    Run("PRAGMA journal_mode=WAL");
    Run("PRAGMA synchronous=FULL");
    Run("PRAGMA foreign_keys=ON");
    Run("PRAGMA trusted_schema=OFF");
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Connection::~Connection() {
  sqlite3_close(handle_);
}

void Connection::Run(const char* sql) {
  int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    throw DatabaseError(sqlite3_errmsg(handle_), code);
  }
}

int64_t Connection::LastRowId() const {
  return sqlite3_last_insert_rowid(handle_);
}

int Connection::Changes() const {
  return sqlite3_changes(handle_);
}

Statement::Statement(Connection& connection, std::string_view sql)
    : connection_(connection.handle()) {
  Check(sqlite3_prepare_v2(connection_,
                           sql.data(),
                           static_cast<int>(sql.size()),
                           &statement_,
                           nullptr));
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

void Statement::Check(int code) const {
  if (code != SQLITE_OK) {
    throw DatabaseError(sqlite3_errmsg(connection_), code);
  }
}

Statement& Statement::Bind(int64_t value) {
  Check(sqlite3_bind_int64(statement_, next_++, value));
  return *this;
}

Statement& Statement::Bind(std::string_view value) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* text = value.empty() ? "" : value.data();
  Check(sqlite3_bind_text(statement_,
                          next_++,
                          text,
                          static_cast<int>(value.size()),
                          SQLITE_STATIC));
  return *this;
}

bool Statement::Step() {
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    return true;
  }
  Check(code == SQLITE_DONE ? SQLITE_OK : code);
  return false;
}

int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  int size = sqlite3_column_bytes(statement_, column);
  return text == nullptr ? std::string()
                         : std::string(reinterpret_cast<const char*>(text),
                                       static_cast<size_t>(size));
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.Run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) {
    // Fails only where SQLite has rolled back by itself.
    sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::Commit() {
  connection_.Run("COMMIT");
  open_ = false;
}

}  // namespace cairn::server
