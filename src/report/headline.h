// SPDX-License-Identifier: Apache-2.0
//
// The two sentences that a report is told in: what died and why, and where.
#ifndef CAIRN_REPORT_HEADLINE_H_
#define CAIRN_REPORT_HEADLINE_H_

#include <string>

#include "report/report.h"

namespace cairn::report {

// "SIGSEGV (SEGV_MAPERR) at 0x0".
std::string WhatHappened(const Report& report);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_HEADLINE_H_
