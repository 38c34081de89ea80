// SPDX-License-Identifier: Apache-2.0
#include "upload/next_launch.h"

#include <sys/stat.h>

#include <exception>

#include "format/report_format.h"
#include "report/append.h"
#include "report/reader.h"
#include "upload/directory.h"
#include "upload/send_all.h"
#include "upload/slots.h"

namespace cairn::upload {
namespace {

bool HasNames(const report::Report& report) {
  for (const report::Thread& thread : report.threads) {
    for (const report::Frame& frame : thread.frames) {
      if (!frame.symbols.empty()) {
        return true;
      }
    }
  }
  return false;
}

// Appends names to one report. Returns what went wrong, or "".
std::string AddNames(const Directory& directory,
                     const std::string& name,
                     symbolicate::Symbolicator* symbolicator,
                     size_t* named) {
  const std::string path = directory.PathOf(name);
  report::ReadResult read = report::ReadReportFile(path);
  const bool readable = read.status == report::ReadStatus::kWhole ||
                        read.status == report::ReadStatus::kCut;
  if (!readable || read.report.has_symbols) {
    return readable ? "" : path + ": " + read.error;
  }
  symbolicator->Symbolicate(&read.report);
  if (!HasNames(read.report) && read.report.symbol_status.empty()) {
    return "";  // nothing to say
  }
  const Descriptor file = directory.Open(name, false);
  struct stat before{};
  const bool dated = file.valid() && fstat(file.get(), &before) == 0;
  const std::string error =
      report::AppendSection(path, report::SymbolsPayload(read.report));
  if (dated) {  // the date is the crash's, and orders the queue
    constexpr int64_t kNsPerSecond = 1000000000;
    directory.SetModified(
        name, before.st_mtim.tv_sec * kNsPerSecond + before.st_mtim.tv_nsec);
  }
  *named += error.empty() ? 1 : 0;
  return error.empty() ? "" : path + ": " + error;
}

void Process(const NextLaunchOptions& options,
             const std::atomic<bool>* stop,
             const Progress& progress,
             NextLaunchResult* result) {
  const Directory directory(options.upload.directory);
  if (!directory.valid()) {
    result->problems.push_back(options.upload.directory +
                               ": cannot be opened as a directory");
    return;
  }
  const QueueLock lock(directory);
  if (!lock.held()) {
    result->problems.push_back(options.upload.directory +
                               ": another process is at it, or it cannot be "
                               "written");
    return;
  }
  FinishSlots(directory);
  KeepNewest(directory, "", options.upload.keep_unsent);
  symbolicate::Symbolicator symbolicator(options.symbols);
  auto prepare = [&](const std::string& name) {
    std::string problem;
    try {
      problem = AddNames(directory, name, &symbolicator, &result->named);
    } catch (const std::exception& error) {
      problem = directory.PathOf(name) + ": " + error.what();
    }
    if (!problem.empty()) {
      result->problems.push_back(std::move(problem));
    }
  };
  if (!options.upload.url.empty()) {
    result->sent = SendAll(directory, options.upload, stop, progress, prepare);
    return;
  }
  for (const FileEntry& file : directory.List(format::kReportSuffix)) {
    if (stop != nullptr && stop->load()) {
      return;
    }
    prepare(file.name);
  }
}

}  // namespace

NextLaunchResult ProcessFinishedReports(
    const NextLaunchOptions& options,
    const std::atomic<bool>* stop,
    const std::function<void(const Result&)>& progress) noexcept {
  NextLaunchResult result;
  try {
    Process(options, stop, progress, &result);
  } catch (...) {
    // Out of memory, most likely; the reports are all still there.
    result.sent.clear();
  }
  return result;
}

}  // namespace cairn::upload
