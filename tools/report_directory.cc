// SPDX-License-Identifier: Apache-2.0
#include "report_directory.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "report/reader.h"
#include "upload/uploader.h"

namespace cairn::tools {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string path;
  uint64_t time_ns;
};

// When the file was last changed, for a report that does not tell its time.
uint64_t FileTime(const std::string& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  if (error) {
    return 0;
  }
  const auto system = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(system).count());
}

bool IsNewer(const Entry& left, const Entry& right) {
  return left.time_ns != right.time_ns ? left.time_ns > right.time_ns
                                       : left.path < right.path;
}

}  // namespace

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<std::string> ReportsIn(const std::string& directory,
                                   std::string* error) {
  std::error_code code;
  fs::directory_iterator(directory, code);
  if (code) {
    *error = directory + ": " + code.message();
    return {};
  }
  error->clear();
  // The crash's own time orders reports: a later launch changes the file's when
  // it appends names.
  std::vector<Entry> entries;
  for (std::string& path : upload::FinishedReports(directory)) {
    const report::ReadResult read = report::ReadReportFile(path);
    const uint64_t time = read.report.time_ns.value_or(FileTime(path));
    entries.push_back({std::move(path), time});
  }
  std::sort(entries.begin(), entries.end(), IsNewer);
  std::vector<std::string> paths;
  for (Entry& entry : entries) {
    paths.push_back(std::move(entry.path));
  }
  return paths;
}

}  // namespace cairn::tools
