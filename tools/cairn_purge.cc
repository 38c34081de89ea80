// SPDX-License-Identifier: Apache-2.0
//
// cairn purge [--yes] DIR
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <memory>
#include <system_error>

#include "command.h"
#include "report/reader.h"
#include "report_directory.h"

namespace cairn::tools {
namespace {

// Only what a reader takes for a report goes: a file that merely has the name
// of one is somebody else's.
bool Remove(const std::string& path) {
  const report::ReadStatus status = report::ReadReportFile(path).status;
  if (status == report::ReadStatus::kNotAReport ||
      status == report::ReadStatus::kCannotOpen) {
    Complain(path + ": not a report, left alone");
    return false;
  }
  if (unlink(path.c_str()) != 0) {
    Complain(path + ": " + std::generic_category().message(errno));
    return false;
  }
  return true;
}

bool Confirmed(size_t count, const std::string& directory) {
  std::printf("Remove %zu report%s from %s? [y/N] ",
              count,
              count == 1 ? "" : "s",
              directory.c_str());
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int Purge(const std::string& directory, bool yes) {
  std::string error;
  const std::vector<std::string> paths = ReportsIn(directory, &error);
  if (!error.empty()) {
    Complain(error);
    return kUnusable;
  }
  if (!yes && !paths.empty()) {
    if (isatty(STDIN_FILENO) == 0) {
      Complain("nobody to ask: add --yes to remove " +
               std::to_string(paths.size()) + " reports");
      return kUnusable;
    }
    if (!Confirmed(paths.size(), directory)) {
      return kWhole;
    }
  }
  size_t removed = 0;
  for (const std::string& path : paths) {
    removed += Remove(path) ? 1 : 0;
  }
  std::printf("%zu removed\n", removed);
  return removed == paths.size() ? kWhole : kCut;
}

}  // namespace

void AddPurge(CLI::App* app, int* exit_status) {
  CLI::App* command = app->add_subcommand("purge", "Remove finished reports");
  const auto directory = std::make_shared<std::string>();
  const auto yes = std::make_shared<bool>(false);
  command->add_option("DIR", *directory, "Directory of reports")->required();
  command->add_flag("-y,--yes", *yes, "Do not ask");
  command->callback([directory, yes, exit_status] {
    *exit_status = Purge(*directory, *yes);
  });
}

}  // namespace cairn::tools
