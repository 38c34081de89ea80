// SPDX-License-Identifier: Apache-2.0
//
// Report → the JSON object of `cairn show --json` (docs/report-format.md and
// docs/report.schema.json). The server sends the same object.
#ifndef CAIRN_REPORT_JSON_H_
#define CAIRN_REPORT_JSON_H_

#include <string>

#include "report/report.h"

namespace cairn::report {

struct JsonOptions {
  bool pretty = false;
  bool raw = false;  // leave names out
};

// Always valid UTF-8 and valid JSON, whatever the report holds.
std::string ToJson(const Report& report, const JsonOptions& options = {});

// The members of the object without the outer braces, so that a caller can add
// its own ("server": {}).
std::string ToJsonMembers(const Report& report,
                          const JsonOptions& options = {});

}  // namespace cairn::report

#endif  // CAIRN_REPORT_JSON_H_
