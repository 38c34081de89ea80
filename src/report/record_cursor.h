// SPDX-License-Identifier: Apache-2.0
//
// Splits bytes into records. Knows headers and lengths, not what fields mean.
//
// Ordinary code. Reads nothing outside [begin, end) of the file; each step
// looks at one record header.
#ifndef CAIRN_REPORT_RECORD_CURSOR_H_
#define CAIRN_REPORT_RECORD_CURSOR_H_

#include <cstddef>
#include <cstdint>

namespace cairn::report {

struct Record {
  uint16_t field = 0;
  uint8_t kind = 0;
  const uint8_t* payload = nullptr;
  size_t bytes = 0;
  size_t offset = 0;  // of the record's first byte in the file
};

class RecordCursor {
 public:
  enum class Step {
    kRecord,
    kEnd,   // exactly at the end
    kZero,  // field 0: nothing was written here
    kCut,   // the record reaches beyond the end, or its length is no number
  };

  RecordCursor(const uint8_t* file, size_t begin, size_t end)
      : file_(file), position_(begin), end_(end) {}

  Step Next(Record* record);
  size_t position() const { return position_; }

 private:
  const uint8_t* file_;
  size_t position_;
  size_t end_;
};

}  // namespace cairn::report

#endif  // CAIRN_REPORT_RECORD_CURSOR_H_
