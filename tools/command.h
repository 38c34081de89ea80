// SPDX-License-Identifier: Apache-2.0
//
// A subcommand of `cairn`: a file of its own with one function that adds it to
// the application. The function's callback does the work and leaves the exit
// status; what it prints goes to standard output, complaints to standard error
// as "cairn: …".
#ifndef CAIRN_TOOLS_COMMAND_H_
#define CAIRN_TOOLS_COMMAND_H_

#include <string>

namespace CLI {
class App;
}

namespace cairn::tools {

enum ExitStatus {
  kWhole = 0,     // done; what was shown is whole
  kCut = 1,       // readable, or done, but not whole
  kUnusable = 2,  // unreadable, or wrong usage
};

void AddList(CLI::App* app, int* exit_status);
void AddPurge(CLI::App* app, int* exit_status);
void AddShow(CLI::App* app, int* exit_status);
void AddSymbolize(CLI::App* app, int* exit_status);
void AddUpload(CLI::App* app, int* exit_status);

// "cairn: TEXT" on standard error.
void Complain(const std::string& text);

}  // namespace cairn::tools

#endif  // CAIRN_TOOLS_COMMAND_H_
