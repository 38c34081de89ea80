// SPDX-License-Identifier: Apache-2.0
//
// Appends a section to a finished report. Bytes written at the crash are never
// changed: a slot's unused rest is cut off first, then the section follows.
#ifndef CAIRN_REPORT_APPEND_H_
#define CAIRN_REPORT_APPEND_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"

namespace cairn::report {

// Serialises the names in `report` (Frame::symbols, symbol_status) as the
// payload of a section: one kSymbols group.
std::vector<uint8_t> SymbolsPayload(const Report& report);

// Appends `payload` with its header and checksum to the file at `path`, and
// flushes it to disk. A half-written section is skipped by the reader and
// replaced by the next append. Returns "" or what went wrong.
std::string AppendSection(const std::string& path,
                          const std::vector<uint8_t>& payload);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_APPEND_H_
