// SPDX-License-Identifier: Apache-2.0
//
// cairn list DIR
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "command.h"
#include "report_directory.h"

namespace cairn::tools {
namespace {

int List(const std::string& directory) {
  std::string error;
  for (const std::string& path : ReportsIn(directory, &error)) {
    std::printf("%s\n", path.c_str());
  }
  if (!error.empty()) {
    Complain(error);
    return kUnusable;
  }
  return kWhole;
}

}  // namespace

void AddList(CLI::App* app, int* exit_status) {
  CLI::App* command =
      app->add_subcommand("list", "Print a path per report, newest first");
  const auto directory = std::make_shared<std::string>();
  command->add_option("DIR", *directory, "Directory of reports")->required();
  command->callback(
      [directory, exit_status] { *exit_status = List(*directory); });
}

}  // namespace cairn::tools
