// SPDX-License-Identifier: Apache-2.0
#include "report/reader.h"

#include <algorithm>
#include <cstring>

#include "report/file_layout.h"
#include "report/model_builder.h"
#include "report/problem_list.h"
#include "report/record_walker.h"

namespace cairn::report {
namespace {

using format::FileHeader;
using format::SlotState;

bool IsUnused(const FileHeader& header) {
  return header.state < static_cast<uint32_t>(SlotState::kClaimed) &&
         header.claim == 0;
}

void TakeHeader(const FileHeader& header, Report* report) {
  report->format_version = header.format_version;
  std::memcpy(report->uuid.data(), header.report_uuid, report->uuid.size());
  report->architecture = static_cast<format::Architecture>(header.architecture);
  report->operating_system =
      static_cast<format::OperatingSystem>(header.operating_system);
  report->state = static_cast<SlotState>(header.state);
  report->installer = header.installer;
  report->owner = header.owner;
}

ReadResult Refuse(ReadStatus status, std::string error) {
  ReadResult result;
  result.status = status;
  result.error = std::move(error);
  return result;
}

std::string TooNew(const FileHeader& header) {
  if (header.byte_order != format::kLittleEndian) {
    return "written in a byte order that this version cannot read";
  }
  return "written by a newer version (format " +
         std::to_string(header.format_version) + ", needs a reader of " +
         std::to_string(header.least_reader_version) + ", this one is " +
         std::to_string(format::kFormatVersion) + "): update cairn";
}

// A damaged header says nothing about versions.
bool IsTooNew(const FileLayout& layout) {
  return layout.header_sound &&
         (layout.header.least_reader_version > format::kFormatVersion ||
          layout.header.byte_order != format::kLittleEndian);
}

}  // namespace

ReadResult ReadReport(const uint8_t* bytes, size_t size) {
  ReadResult result;
  Report& report = result.report;
  ProblemList problems(&report.problems);
  const std::optional<FileLayout> layout = LayOut(bytes, size, &problems);
  if (!layout) {
    const bool begun =
        size >= sizeof(format::kMagic) &&
        std::memcmp(bytes, format::kMagic, sizeof(format::kMagic)) == 0;
    return Refuse(ReadStatus::kNotAReport,
                  begun ? "the file ends inside its header; nothing is left"
                        : "not a Cairn report");
  }
  if (IsTooNew(*layout)) {
    return Refuse(ReadStatus::kTooNew, TooNew(layout->header));
  }
  if (IsUnused(layout->header)) {
    return Refuse(ReadStatus::kEmpty, "a prepared slot; no crash has used it");
  }
  TakeHeader(layout->header, &report);
  ModelBuilder builder(&report, &problems);
  RecordWalker walker(bytes, &builder, &problems);
  walker.Walk(layout->records_begin, layout->records_end);
  for (const Section& section : layout->sections) {
    walker.Walk(section.payload_begin, section.payload_end);
  }
  builder.Finish();
  if (report.state != SlotState::kSealed) {
    problems.Add(0, "the report was never finished: its writer was stopped");
  }
  problems.Finish();
  report.complete = report.problems.empty();
  result.status = report.complete ? ReadStatus::kWhole : ReadStatus::kCut;
  return result;
}

std::optional<size_t> ReportLength(const uint8_t* bytes, size_t size) {
  const std::optional<FileLayout> layout = LayOut(bytes, size, nullptr);
  return layout ? std::optional(layout->used_bytes) : std::nullopt;
}

}  // namespace cairn::report
