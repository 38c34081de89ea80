// SPDX-License-Identifier: Apache-2.0
//
// Builds a report file in memory with the crash-time record writer.
#ifndef CAIRN_TESTS_SAMPLES_SAMPLE_FILE_H_
#define CAIRN_TESTS_SAMPLES_SAMPLE_FILE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "format/report_format.h"
#include "writer/record_writer.h"

namespace cairn::samples {

// LEB128 values back to back.
class Packed {
 public:
  Packed& Add(uint64_t value);
  Packed& AddSigned(int64_t value);
  Packed& Append(const Packed& more);
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

class SampleFile {
 public:
  // A sealed file of this version, x86_64 Linux. `uuid_seed` fills the uuid.
  explicit SampleFile(uint8_t uuid_seed);
  SampleFile(const SampleFile&) = delete;
  SampleFile& operator=(const SampleFile&) = delete;

  format::FileHeader& header() { return header_; }
  writer::RecordWriter& records() { return records_; }

  void Text(format::Field field, std::string_view text);
  void Number(format::Field field, uint64_t value);
  void Signed(format::Field field, int64_t value);
  void Address(format::Field field, uint64_t value);
  void Bytes(format::Field field, const std::vector<uint8_t>& bytes);
  void Pack(format::Field field, const Packed& packed);
  // A group around what `body` writes.
  void Group(format::Field field, const std::function<void()>& body);

  // Everything after this goes into an appended section, until the next call.
  void BeginSection();

  // The whole file. The object is used up.
  std::vector<uint8_t> Finish();

 private:
  void CloseSection();

  std::vector<uint8_t> buffer_;
  format::FileHeader header_{};
  writer::RecordWriter records_;
  size_t section_start_ = 0;  // of the open section's header; 0: none
};

// Frame as stored: image index (-1: none), offset or address, trust, kind.
struct SampleFrame {
  int image;
  uint64_t offset;
  format::FrameTrust trust;
  format::FrameKind kind;
};
// A stack's payload: the node shared with an earlier stack, then new frames,
// outermost first.
Packed Stack(uint64_t shared, std::initializer_list<SampleFrame> frames);

// A thread's registers: (index, value) pairs, as differences from `previous`,
// which is brought up to date. Indices rise.
Packed Registers(std::initializer_list<std::pair<unsigned, uint64_t>> values,
                 std::vector<uint64_t>* previous);

}  // namespace cairn::samples

#endif  // CAIRN_TESTS_SAMPLES_SAMPLE_FILE_H_
