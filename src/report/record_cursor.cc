// SPDX-License-Identifier: Apache-2.0
#include "report/record_cursor.h"

#include "format/varint.h"

namespace cairn::report {

RecordCursor::Step RecordCursor::Next(Record* record) {
  const size_t left = end_ - position_;
  if (left == 0) {
    return Step::kEnd;
  }
  if (left < 2) {
    return file_[position_] == 0 ? Step::kZero : Step::kCut;
  }
  const uint8_t* in = file_ + position_;
  record->field = static_cast<uint16_t>(in[0] | (in[1] << 8));
  if (record->field == 0) {
    return Step::kZero;
  }
  if (left < 4) {
    return Step::kCut;
  }
  record->kind = in[2];
  uint64_t bytes = 0;
  const size_t length_bytes = format::GetVarint(in + 3, left - 3, &bytes);
  if (length_bytes == 0 || bytes > left - 3 - length_bytes) {
    return Step::kCut;
  }
  record->payload = in + 3 + length_bytes;
  record->bytes = static_cast<size_t>(bytes);
  record->offset = position_;
  position_ += 3 + length_bytes + record->bytes;
  return Step::kRecord;
}

}  // namespace cairn::report
