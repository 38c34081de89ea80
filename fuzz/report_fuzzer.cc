// SPDX-License-Identifier: Apache-2.0
//
// Reads arbitrary bytes as a report, prints it both ways, and writes its names.
// The input is taken as it is, and once more as the records and the appended
// section of a file whose checksums are right, to get behind them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "report/append.h"
#include "report/json.h"
#include "report/reader.h"
#include "report/text.h"
#include "safe/crc32c.h"

namespace {

using cairn::format::FileHeader;
using cairn::format::SectionHeader;
using cairn::report::ReadReport;
using cairn::report::ReadResult;
using cairn::report::ReadStatus;

void Use(const uint8_t* bytes, size_t size) {
  const ReadResult result = ReadReport(bytes, size);
  const auto length = cairn::report::ReportLength(bytes, size);
  if (length && *length > size) {
    std::abort();
  }
  if (result.status != ReadStatus::kWhole &&
      result.status != ReadStatus::kCut) {
    return;
  }
  if (result.report.complete != result.report.problems.empty()) {
    std::abort();
  }
  ToJson(result.report);
  ToText(result.report, {.color = true});
  SymbolsPayload(result.report);
}

std::vector<uint8_t> WithChecksums(const uint8_t* data, size_t size) {
  const size_t records = size / 2;
  const size_t payload = size - records;
  FileHeader header{};
  std::memcpy(header.magic, cairn::format::kMagic, sizeof(header.magic));
  header.format_version = header.least_reader_version = 1;
  header.header_bytes = sizeof(header);
  header.byte_order = cairn::format::kLittleEndian;
  header.architecture = 1;
  header.operating_system = 1;
  header.state = 3;
  header.committed_bytes = sizeof(header) + records;
  header.header_crc = cairn::safe::Crc32c(
      cairn::safe::Crc32c(0, &header, offsetof(FileHeader, header_crc)),
      header.report_uuid,
      sizeof(header.report_uuid));
  SectionHeader section{};
  std::memcpy(section.magic, cairn::format::kSectionMagic, 4);
  section.version = 1;
  section.payload_bytes = payload;
  section.payload_crc = cairn::safe::Crc32c(0, data + records, payload);
  section.header_crc =
      cairn::safe::Crc32c(0, &section, offsetof(SectionHeader, header_crc));
  const auto* from = reinterpret_cast<const uint8_t*>(&header);
  std::vector<uint8_t> file(from, from + sizeof(header));
  file.insert(file.end(), data, data + records);
  from = reinterpret_cast<const uint8_t*>(&section);
  file.insert(file.end(), from, from + sizeof(section));
  file.insert(file.end(), data + records, data + size);
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Use(data, size);
  const std::vector<uint8_t> file = WithChecksums(data, size);
  Use(file.data(), file.size());
  return 0;
}
