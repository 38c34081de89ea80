// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of a report file lie: header, records, appended sections,
// and the unused rest of a slot.
//
// Ordinary code, hostile input. Nothing is copied but the header.
#ifndef CAIRN_REPORT_FILE_LAYOUT_H_
#define CAIRN_REPORT_FILE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "format/report_format.h"
#include "report/problem_list.h"

namespace cairn::report {

struct Section {
  size_t payload_begin = 0;
  size_t payload_end = 0;
};

struct FileLayout {
  format::FileHeader header{};
  bool header_sound = false;  // its checksum is right
  size_t records_begin = 0;
  size_t records_end = 0;         // of what is there
  uint64_t committed_bytes = 0;   // of what was written
  std::vector<Section> sections;  // whole, checksum right
  // End of the last whole section, else of the records. Bytes behind it are a
  // slot's rest or a section that was not finished.
  size_t used_bytes = 0;
};

// nullopt when the bytes do not begin as a report. `problems` may be null.
std::optional<FileLayout> LayOut(const uint8_t* bytes,
                                 size_t size,
                                 ProblemList* problems);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_FILE_LAYOUT_H_
