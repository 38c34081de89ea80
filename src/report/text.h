// SPDX-License-Identifier: Apache-2.0
//
// Report → text for a terminal: what died, why, where; then the rest.
#ifndef CAIRN_REPORT_TEXT_H_
#define CAIRN_REPORT_TEXT_H_

#include <string>

#include "report/report.h"

namespace cairn::report {

struct TextOptions {
  bool color = false;
  bool raw = false;  // leave names out
  bool all_threads = true;
  int width = 100;
};

std::string ToText(const Report& report, const TextOptions& options = {});

// One line: "SIGSEGV (SEGV_MAPERR) at 0x0 in crash_here". Title of lists.
std::string Headline(const Report& report);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_TEXT_H_
