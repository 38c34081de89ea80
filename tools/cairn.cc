// SPDX-License-Identifier: Apache-2.0
//
// The `cairn` command: tools/cairn.md is its manual. Each subcommand is a file
// of its own, cairn_NAME.cc, and one line in the list below.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cairn/cairn.h"
#include "command.h"

namespace {

using Add = void (*)(CLI::App*, int*);

constexpr Add kCommands[] = {
    cairn::tools::AddShow,
    cairn::tools::AddList,
    cairn::tools::AddPurge,
    cairn::tools::AddUpload,
    cairn::tools::AddSymbolize,
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Cairn: reads, lists, sends and removes crash reports", "cairn");
  app.set_version_flag("--version", "cairn " CAIRN_VERSION);
  app.require_subcommand(1);
  int exit_status = cairn::tools::kWhole;
  for (const Add add : kCommands) {
    add(&app, &exit_status);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // 0 for --help and --version; every wrong usage is 2.
    return app.exit(error) == 0 ? cairn::tools::kWhole
                                : cairn::tools::kUnusable;
  } catch (const std::exception& error) {
    cairn::tools::Complain(error.what());
    return cairn::tools::kUnusable;
  }
  // A full disk or a closed pipe must not look like a whole report.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    cairn::tools::Complain("cannot write to standard output");
    return cairn::tools::kUnusable;
  }
  return exit_status;
}

void cairn::tools::Complain(const std::string& text) {
  std::fprintf(stderr, "cairn: %s\n", text.c_str());
}
