// SPDX-License-Identifier: Apache-2.0
#include "writer/record_writer.h"

#include "format/varint.h"
#include "safe/bytes.h"
#include "safe/crc32c.h"

namespace cairn::writer {
namespace {

using format::Field;
using format::Kind;

// field, kind, length 4, checksum.
constexpr size_t kGroupEndBytes = 2 + 1 + 1 + 4;

}  // namespace

RecordWriter::RecordWriter(uint8_t* buffer,
                           size_t start,
                           size_t capacity,
                           uint64_t* committed)
    : buffer_(buffer),
      position_(start),
      capacity_(capacity),
      committed_(committed) {}

size_t RecordWriter::remaining() const {
  const size_t kept = reserved_ + static_cast<size_t>(depth_) * kGroupEndBytes;
  const size_t left = capacity_ > position_ ? capacity_ - position_ : 0;
  return left > kept ? left - kept : 0;
}

bool RecordWriter::Put(Field field,
                       Kind kind,
                       const void* payload,
                       size_t bytes) {
  uint8_t head[3 + format::kMaxVarintBytes];
  head[0] = static_cast<uint8_t>(static_cast<uint16_t>(field) & 0xff);
  head[1] = static_cast<uint8_t>(static_cast<uint16_t>(field) >> 8);
  head[2] = static_cast<uint8_t>(kind);
  const size_t head_bytes = 3 + format::PutVarint(head + 3, bytes);
  if (bytes > format::kMaxPayloadBytes || head_bytes + bytes > remaining()) {
    ++dropped_;
    return false;
  }
  safe::Copy(buffer_ + position_, head, head_bytes);
  if (bytes > 0) {
    safe::Copy(buffer_ + position_ + head_bytes, payload, bytes);
  }
  position_ += head_bytes + bytes;
  return true;
}

bool RecordWriter::PutUnsigned(Field field, uint64_t value) {
  uint8_t payload[format::kMaxVarintBytes];
  return Put(
      field, Kind::kUnsigned, payload, format::PutVarint(payload, value));
}

bool RecordWriter::PutSigned(Field field, int64_t value) {
  uint8_t payload[format::kMaxVarintBytes];
  return Put(field,
             Kind::kSigned,
             payload,
             format::PutVarint(payload, format::ZigZag(value)));
}

bool RecordWriter::PutAddress(Field field, uint64_t address) {
  uint8_t payload[format::kMaxVarintBytes];
  return Put(
      field, Kind::kAddress, payload, format::PutVarint(payload, address));
}

bool RecordWriter::PutString(Field field, const char* text, size_t bytes) {
  return Put(field, Kind::kString, text, bytes);
}

bool RecordWriter::PutBytes(Field field, const void* data, size_t bytes) {
  return Put(field, Kind::kBytes, data, bytes);
}

bool RecordWriter::PutPacked(Field field,
                             const uint8_t* varints,
                             size_t bytes) {
  return Put(field, Kind::kPacked, varints, bytes);
}

bool RecordWriter::BeginGroup(Field field) {
  if (depth_ >= format::kMaxGroupDepth || remaining() < kGroupEndBytes + 4) {
    ++dropped_;
    return false;
  }
  const size_t start = position_;
  if (!Put(field, Kind::kGroupBegin, nullptr, 0)) {
    return false;
  }
  group_start_[depth_] = start;
  group_field_[depth_] = field;
  ++depth_;
  return true;
}

void RecordWriter::EndGroup() {
  if (depth_ == 0) {
    return;
  }
  --depth_;
  const size_t start = group_start_[depth_];
  const uint32_t crc = safe::Crc32c(0, buffer_ + start, position_ - start);
  const uint16_t field = static_cast<uint16_t>(group_field_[depth_]);
  uint8_t* out = buffer_ + position_;
  out[0] = static_cast<uint8_t>(field & 0xff);
  out[1] = static_cast<uint8_t>(field >> 8);
  out[2] = static_cast<uint8_t>(Kind::kGroupEnd);
  out[3] = 4;
  for (int i = 0; i < 4; ++i) {
    out[4 + i] = static_cast<uint8_t>(crc >> (8 * i));
  }
  position_ += kGroupEndBytes;
}

void RecordWriter::DropGroup() {
  if (depth_ == 0) {
    return;
  }
  --depth_;
  position_ = group_start_[depth_];
  ++dropped_;
}

bool RecordWriter::PutRecords(const uint8_t* records, size_t bytes) {
  if (depth_ != 0 || bytes > remaining()) {
    ++dropped_;
    return false;
  }
  safe::Copy(buffer_ + position_, records, bytes);
  position_ += bytes;
  return true;
}

void RecordWriter::Rewind() {
  position_ = last_commit_;
  depth_ = 0;
}

void RecordWriter::Commit() {
  last_commit_ = position_;
  if (committed_ != nullptr) {
    __atomic_store_n(
        committed_, static_cast<uint64_t>(position_), __ATOMIC_RELEASE);
  }
}

void RecordWriter::Reserve(size_t bytes) {
  reserved_ = bytes;
}

void RecordWriter::Extend(size_t capacity) {
  if (capacity > capacity_) {
    capacity_ = capacity;
  }
}

}  // namespace cairn::writer
