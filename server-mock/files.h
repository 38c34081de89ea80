// SPDX-License-Identifier: Apache-2.0
//
// The reports' bytes on disk: DIR/reports/ab/UUID.cairn, exactly as they were
// put. Nothing is ever changed; a report is there whole and durable, or not at
// all.
//
// Threads: Put of one uuid must not run twice at a time (ingest.h sees to it);
// all else is free. Directories 0700, files 0600; symbolic links are not
// followed. Only one process may use a directory (a lock is held).
#ifndef CAIRN_SERVER_FILES_H_
#define CAIRN_SERVER_FILES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "report/report.h"

namespace cairn::server {

class ReportFiles {
 public:
  enum class PutResult {
    kNew,
    kSame,       // the same bytes are there already
    kDifferent,  // other bytes are there; nothing was changed
    kDiskFull,   // no room, or over quota; nothing was kept
    kFailed,     // see errno
  };

  // Makes `directory` and what it needs, takes its lock, removes half-written
  // files of an earlier run. Throws std::runtime_error with the remedy.
  explicit ReportFiles(const std::string& directory);
  ~ReportFiles();
  ReportFiles(const ReportFiles&) = delete;
  ReportFiles& operator=(const ReportFiles&) = delete;

  // After kNew and kSame the bytes are on disk, their names too.
  PutResult Put(const report::Uuid& uuid, std::string_view bytes);
  // nullopt when there is none.
  std::optional<std::string> Read(const report::Uuid& uuid) const;
  // Every report that is there, in no order; seconds are of the file's time.
  void ForEach(const std::function<void(const report::Uuid& uuid,
                                        uint64_t bytes,
                                        int64_t time_s)>& visit) const;

 private:
  PutResult Write(int shard, const std::string& name, std::string_view bytes);
  int OpenShard(const std::string& name, bool create) const;

  int directory_ = -1;
  int lock_ = -1;
  int reports_ = -1;
  int temporary_ = -1;
};

}  // namespace cairn::server

#endif  // CAIRN_SERVER_FILES_H_
