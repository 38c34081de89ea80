// SPDX-License-Identifier: Apache-2.0
//
// cairn show [--json] [--raw] [--color WHEN] REPORT|DIR
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "command.h"
#include "report/json.h"
#include "report/reader.h"
#include "report/text.h"
#include "report_directory.h"
#include "symbolicate/symbolicator.h"

namespace cairn::tools {
namespace {

struct Options {
  std::string place;
  std::string color = "auto";
  bool json = false;
  bool raw = false;
};

// https://no-color.org: set and not empty means none.
bool WantsColor(const std::string& when) {
  if (when != "auto") {
    return when == "always";
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 &&
         (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string(terminal) != "dumb");
}

int TerminalWidth() {
  constexpr int kDefault = 100;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 40
             ? size.ws_col
             : kDefault;
}

// The report itself, or the newest one of a directory; "" after a complaint.
std::string PathOf(const std::string& place) {
  if (!IsDirectory(place)) {
    return place;
  }
  std::string error;
  const std::vector<std::string> paths = ReportsIn(place, &error);
  if (paths.empty()) {
    Complain(error.empty() ? place + ": no report in this directory" : error);
    return "";
  }
  return paths.front();
}

void Print(const report::Report& report, const Options& options) {
  std::string text;
  if (options.json) {
    text = ToJson(report, {.pretty = true, .raw = options.raw}) + "\n";
  } else {
    text = ToText(report,
                  {.color = WantsColor(options.color),
                   .raw = options.raw,
                   .width = TerminalWidth()});
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int Show(const Options& options) {
  const std::string path = PathOf(options.place);
  if (path.empty()) {
    return kUnusable;
  }
  report::ReadResult read = report::ReadReportFile(path);
  if (read.status != report::ReadStatus::kWhole &&
      read.status != report::ReadStatus::kCut) {
    Complain(read.error);
    return kUnusable;
  }
  if (!options.raw && !read.report.has_symbols) {
    symbolicate::Symbolicator().Symbolicate(&read.report);
  }
  Print(read.report, options);
  return read.status == report::ReadStatus::kWhole ? kWhole : kCut;
}

}  // namespace

void AddShow(CLI::App* app, int* exit_status) {
  CLI::App* command = app->add_subcommand(
      "show", "Print a report, or the newest one of a directory");
  const auto options = std::make_shared<Options>();
  command->add_option("REPORT|DIR", options->place, "Report or directory")
      ->required();
  command->add_flag("--json", options->json, "One JSON object");
  command->add_flag("--raw", options->raw, "No names: modules and offsets");
  command->add_option("--color", options->color, "Colour the text")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command->callback([options, exit_status] { *exit_status = Show(*options); });
}

}  // namespace cairn::tools
