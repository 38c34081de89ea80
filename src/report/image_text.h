// SPDX-License-Identifier: Apache-2.0
//
// Small answers about images and registers that JSON and text share.
#ifndef CAIRN_REPORT_IMAGE_TEXT_H_
#define CAIRN_REPORT_IMAGE_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "report/report.h"

namespace cairn::report {

// What stands behind the last slash.
std::string BaseName(const std::string& path);
// The image's own, else the report's.
format::Architecture ArchitectureOf(const Report& report, const Image& image);
// Per image what symbol sections said of it last; "" when nothing.
std::vector<std::string> SymbolStatuses(const Report& report);
// "rax"; "register63" for an index that the architecture does not have.
std::string RegisterName(format::Architecture architecture, uint32_t index);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_IMAGE_TEXT_H_
