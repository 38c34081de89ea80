// SPDX-License-Identifier: Apache-2.0
//
// The queue of finished reports in a directory, and its way to the server.
//
// Ordinary code; one upload at a time per directory, across processes.
#ifndef CAIRN_UPLOAD_UPLOADER_H_
#define CAIRN_UPLOAD_UPLOADER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cairn::upload {

struct Options {
  std::string directory;     // of the reports
  std::string url;           // server's root, "https://crash.example.org"
  std::string token;         // "" sends no Authorization header
  int timeout_ms = 20000;    // for one request
  int attempts = 5;          // per report and call, for answers worth a retry
  int first_delay_ms = 500;  // doubled each time
  size_t keep_unsent = 20;   // newest kept, older removed
  size_t keep_sent = 10;     // newest kept in sent/
};

enum class Outcome {
  kSent,          // 201 or 200: moved to sent/
  kRefused,       // 400, 409, 413: will never be taken; moved to refused/
  kUnauthorized,  // 401, 403: kept
  kRetryLater,    // 429, 5xx, no connection: kept
};

struct Result {
  std::string path;  // before it was moved
  Outcome outcome{};
  long http_status = 0;  // 0: no answer
  std::string message;   // for people, with the remedy
};

// Sends every finished report of the directory, newest first. A report leaves
// the queue only after the server's acknowledgement. `stop` ends between two
// requests.
std::vector<Result> UploadAll(
    const Options& options,
    const std::atomic<bool>* stop = nullptr,
    const std::function<void(const Result&)>& progress = {});

// Paths of finished reports, newest first; slots of dead processes are
// finished, and renamed where that was left undone. Slots of living processes
// are left out.
std::vector<std::string> FinishedReports(const std::string& directory);

// Removes what the limits say. Returns how many files went.
size_t Prune(const Options& options);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_UPLOADER_H_
