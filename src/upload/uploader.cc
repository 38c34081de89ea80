// SPDX-License-Identifier: Apache-2.0
#include "upload/uploader.h"

#include <algorithm>

#include "format/report_format.h"
#include "upload/directory.h"
#include "upload/send_all.h"
#include "upload/slots.h"

namespace cairn::upload {
namespace {

// Reports, and slots whose owner is gone: those that could not be renamed.
std::vector<FileEntry> Finished(const Directory& directory) {
  std::vector<FileEntry> found = directory.List(format::kReportSuffix);
  for (FileEntry& slot : directory.List(format::kSlotSuffix)) {
    if (SlotFate(directory, slot.name) == Fate::kFinished) {
      found.push_back(std::move(slot));
    }
  }
  // By name where the times are equal, so that the order is always the same.
  std::sort(
      found.begin(), found.end(), [](const FileEntry& a, const FileEntry& b) {
        return a.modified_ns != b.modified_ns ? a.modified_ns > b.modified_ns
                                              : a.name < b.name;
      });
  return found;
}

}  // namespace

std::vector<std::string> FinishedReports(const std::string& path) {
  std::vector<std::string> paths;
  const Directory directory(path);
  if (!directory.valid()) {
    return paths;
  }
  if (const QueueLock lock(directory); lock.held()) {
    FinishSlots(directory);
  }
  for (const FileEntry& file : Finished(directory)) {
    paths.push_back(directory.PathOf(file.name));
  }
  return paths;
}

size_t Prune(const Options& options) {
  const Directory directory(options.directory);
  const QueueLock lock(directory);
  if (!lock.held()) {
    return 0;
  }
  FinishSlots(directory);
  return KeepNewest(directory, "", options.keep_unsent) +
         KeepNewest(directory, "sent", options.keep_sent) +
         KeepNewest(directory, "refused", options.keep_sent);
}

std::vector<Result> UploadAll(
    const Options& options,
    const std::atomic<bool>* stop,
    const std::function<void(const Result&)>& progress) {
  const Directory directory(options.directory);
  if (!directory.valid()) {
    return {};
  }
  const QueueLock lock(directory);
  if (lock.held()) {
    FinishSlots(directory);
    KeepNewest(directory, "", options.keep_unsent);
    return SendAll(directory, options, stop, progress, {});
  }
  std::vector<Result> results;
  for (const FileEntry& file : Finished(directory)) {
    results.push_back({directory.PathOf(file.name),
                       Outcome::kRetryLater,
                       0,
                       "not tried: another process is uploading, or the "
                       "directory cannot be written"});
    if (progress) {
      progress(results.back());
    }
  }
  return results;
}

}  // namespace cairn::upload
