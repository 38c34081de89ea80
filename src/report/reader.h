// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a report → Report. Incomplete is a result, not an error: whatever is
// whole is there, the rest is named in `problems`.
//
// Ordinary code, any thread. The input is hostile: time and memory are bounded
// by the input's size (each byte is looked at a fixed number of times, and what
// a record expands to is capped).
#ifndef CAIRN_REPORT_READER_H_
#define CAIRN_REPORT_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/report.h"

namespace cairn::report {

// Largest file that is read.
inline constexpr uint64_t kMaxReportBytes = 64u << 20;

enum class ReadStatus {
  kWhole,       // every byte that was written is there and right
  kCut,         // readable, but something is missing; see Report::problems
  kNotAReport,  // no magic: this is no report file
  kTooNew,      // least_reader_version is above ours
  kEmpty,       // a slot that no crash has used
  kCannotOpen,  // see ReadResult::error
};

struct ReadResult {
  ReadStatus status = ReadStatus::kNotAReport;
  Report report;      // for kWhole and kCut
  std::string error;  // one line with the remedy, for the others
};

ReadResult ReadReport(const uint8_t* bytes, size_t size);
// Opens without following symbolic links; at most kMaxReportBytes.
ReadResult ReadReportFile(const std::string& path);

// The bytes that belong to the report: the file without a slot's unused rest
// (header, committed records, appended sections). What upload sends. nullopt
// when the header is no report's.
std::optional<size_t> ReportLength(const uint8_t* bytes, size_t size);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_READER_H_
