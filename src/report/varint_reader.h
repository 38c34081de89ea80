// SPDX-License-Identifier: Apache-2.0
//
// Reads the LEB128 values of a packed payload one by one.
#ifndef CAIRN_REPORT_VARINT_READER_H_
#define CAIRN_REPORT_VARINT_READER_H_

#include <cstddef>
#include <cstdint>

#include "format/varint.h"

namespace cairn::report {

class VarintReader {
 public:
  VarintReader(const uint8_t* bytes, size_t size) : in_(bytes), left_(size) {}

  bool AtEnd() const { return left_ == 0; }

  // False, and at the end for good, when the next value is cut or too big.
  bool Next(uint64_t* value) {
    const size_t used = format::GetVarint(in_, left_, value);
    if (used == 0) {
      left_ = 0;
      return false;
    }
    in_ += used;
    left_ -= used;
    return true;
  }

 private:
  const uint8_t* in_;
  size_t left_;
};

}  // namespace cairn::report

#endif  // CAIRN_REPORT_VARINT_READER_H_
