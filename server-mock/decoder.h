// SPDX-License-Identifier: Apache-2.0
//
// Decodes stored reports after they were acknowledged, oldest first, in a
// thread of its own.
#ifndef CAIRN_SERVER_DECODER_H_
#define CAIRN_SERVER_DECODER_H_

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "files.h"
#include "report/report.h"
#include "store.h"

namespace cairn::server {

struct DecodeOptions {
  // Where files with symbols are looked for, by build-id. Paths that a report
  // names are never opened on this machine.
  std::vector<std::string> debug_directories;
};

// Bytes → report, with names where the report has none and files are here.
// nullopt: `why` says so in one line. Hostile input: bounded like ReadReport.
std::optional<report::Report> DecodeReport(std::string_view bytes,
                                           const DecodeOptions& options,
                                           std::string* why);
// What the lists show of a report.
Decoded Summarize(const report::Report& report);
// The frame to look at first, as an index into the crashed thread's frames as
// they stand in JSON, where an inlined call is a frame of its own.
std::optional<size_t> CulpritIndex(const report::Report& report);

class Decoder {
 public:
  Decoder(const ReportFiles* files, Store* store, DecodeOptions options);
  // Ends the thread after the report it is at.
  ~Decoder();

  const DecodeOptions& options() const { return options_; }
  // There may be something new. Any thread.
  void Wake();
  // Waits until the report is no longer waiting, at most `limit_ms`.
  std::optional<ReportRow> Await(const std::string& uuid, int64_t limit_ms);

 private:
  void Run();
  // False when nothing was waiting.
  bool DecodeSome();
  void DecodeOne(const std::string& uuid);

  const ReportFiles* const files_;
  Store* const store_;
  const DecodeOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t wakes_ = 0;  // guarded by mutex_, like the two below
  uint64_t done_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace cairn::server

#endif  // CAIRN_SERVER_DECODER_H_
