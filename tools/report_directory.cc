// SPDX-License-Identifier: Apache-2.0
#include "report_directory.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>

#include "format/report_format.h"
#include "report/reader.h"

namespace cairn::tools {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string path;
  uint64_t time_ns;
};

// When the file was last changed, for a report that does not tell its time.
uint64_t FileTime(const fs::directory_entry& file) {
  std::error_code error;
  const auto time = file.last_write_time(error);
  if (error) {
    return 0;
  }
  const auto system = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(system).count());
}

// nullopt when the file is no finished report. The crash's own time orders
// reports: a later launch changes the file's when it appends names.
std::optional<Entry> EntryOf(const fs::directory_entry& file) {
  const std::string suffix = file.path().extension().string();
  const bool is_slot = suffix == format::kSlotSuffix;
  std::error_code error;
  if ((!is_slot && suffix != format::kReportSuffix) ||
      !file.is_regular_file(error) || file.is_symlink(error)) {
    return std::nullopt;
  }
  const report::ReadResult read = report::ReadReportFile(file.path().string());
  if (is_slot && read.report.state != format::SlotState::kSealed) {
    return std::nullopt;
  }
  return Entry{file.path().string(),
               read.report.time_ns.value_or(FileTime(file))};
}

}  // namespace

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<std::string> ReportsIn(const std::string& directory,
                                   std::string* error) {
  std::vector<Entry> entries;
  std::error_code code;
  for (fs::directory_iterator at(directory, code), end; !code && at != end;
       at.increment(code)) {
    if (std::optional<Entry> entry = EntryOf(*at)) {
      entries.push_back(std::move(*entry));
    }
  }
  *error = code ? directory + ": " + code.message() : "";
  std::sort(entries.begin(),
            entries.end(),
            [](const Entry& left, const Entry& right) {
              return left.time_ns != right.time_ns
                         ? left.time_ns > right.time_ns
                         : left.path < right.path;
            });
  std::vector<std::string> paths;
  for (Entry& entry : entries) {
    paths.push_back(std::move(entry.path));
  }
  return paths;
}

}  // namespace cairn::tools
