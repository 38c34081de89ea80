// SPDX-License-Identifier: Apache-2.0
//
// The finished reports of a directory.
#ifndef CAIRN_TOOLS_REPORT_DIRECTORY_H_
#define CAIRN_TOOLS_REPORT_DIRECTORY_H_

#include <string>
#include <vector>

namespace cairn::tools {

bool IsDirectory(const std::string& path);

// Paths of what upload::FinishedReports takes for finished, newest crash first.
// `error` says why the directory could not be read, else it is "".
std::vector<std::string> ReportsIn(const std::string& directory,
                                   std::string* error);

}  // namespace cairn::tools

#endif  // CAIRN_TOOLS_REPORT_DIRECTORY_H_
