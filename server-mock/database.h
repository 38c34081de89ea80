// SPDX-License-Identifier: Apache-2.0
//
// SQLite with exceptions: a connection, a statement, a transaction.
//
// A connection is used by one thread at a time; its owner locks. Every value
// goes in by Bind, never by text.
#ifndef CAIRN_SERVER_DATABASE_H_
#define CAIRN_SERVER_DATABASE_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace cairn::server {

// What SQLite answered, in words; `full` when there is no room on the disk.
struct DatabaseError : std::runtime_error {
  DatabaseError(const std::string& what, int code);
  bool full = false;
};

class Connection {
 public:
  // Opens or makes the file: write-ahead log, every commit flushed to disk.
  explicit Connection(const std::string& path);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Run(const char* sql);
  int64_t LastRowId() const;
  // Rows changed by the last statement.
  int Changes() const;
  sqlite3* handle() const { return handle_; }

 private:
  sqlite3* handle_ = nullptr;
};

class Statement {
 public:
  Statement(Connection& connection, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Binds the next parameter, from the first. Text must outlive the statement.
  Statement& Bind(int64_t value);
  Statement& Bind(std::string_view value);
  // True while there is a row.
  bool Step();
  // Column of the row, from 0; 0 or "" for NULL.
  int64_t Int(int column) const;
  std::string Text(int column) const;
  bool IsNull(int column) const;

 private:
  void Check(int code) const;
  sqlite3* connection_;
  sqlite3_stmt* statement_ = nullptr;
  int next_ = 1;
};

// Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  ~Transaction();
  void Commit();

 private:
  Connection& connection_;
  bool open_ = true;
};

}  // namespace cairn::server

#endif  // CAIRN_SERVER_DATABASE_H_
