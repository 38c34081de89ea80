// SPDX-License-Identifier: Apache-2.0
//
// What a launch does with the reports of earlier ones: names, then upload.
//
// Ordinary code; meant for a background thread with 1 MiB of stack or more.
// Nothing thrown inside gets out. A kill at any moment loses nothing: names are
// appended with a checksum of their own, and a report leaves the queue only
// after the server's acknowledgement.
#ifndef CAIRN_UPLOAD_NEXT_LAUNCH_H_
#define CAIRN_UPLOAD_NEXT_LAUNCH_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "symbolicate/symbolicator.h"
#include "upload/uploader.h"

namespace cairn::upload {

struct NextLaunchOptions {
  Options upload;  // an empty url: names only, nothing is sent
  symbolicate::Options symbols;
};

struct NextLaunchResult {
  size_t named = 0;          // reports that were given names
  std::vector<Result> sent;  // one for each report, when there is a url
  std::vector<std::string> problems;  // for people, one line each
};

// Each report, newest first, gets its names and is sent before the next one is
// looked at: the report of a crash at start must get out before the next crash.
// `stop` ends the work within one request or one report.
NextLaunchResult ProcessFinishedReports(
    const NextLaunchOptions& options,
    const std::atomic<bool>* stop = nullptr,
    const std::function<void(const Result&)>& progress = {}) noexcept;

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_NEXT_LAUNCH_H_
