// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_file.h"

#include <cstring>

#include "format/varint.h"
#include "safe/crc32c.h"

namespace cairn::samples {

using format::Field;

namespace {

constexpr size_t kCapacity = 1 << 20;

}  // namespace

Packed& Packed::Add(uint64_t value) {
  uint8_t bytes[format::kMaxVarintBytes];
  bytes_.insert(bytes_.end(), bytes, bytes + format::PutVarint(bytes, value));
  return *this;
}

Packed& Packed::Append(const Packed& more) {
  bytes_.insert(bytes_.end(), more.bytes_.begin(), more.bytes_.end());
  return *this;
}

Packed& Packed::AddSigned(int64_t value) {
  return Add(format::ZigZag(value));
}

SampleFile::SampleFile(uint8_t uuid_seed)
    : buffer_(kCapacity),
      records_(buffer_.data(), sizeof(header_), kCapacity, nullptr) {
  std::memcpy(header_.magic, format::kMagic, sizeof(header_.magic));
  header_.format_version = format::kFormatVersion;
  header_.least_reader_version = format::kLeastReaderVersion;
  header_.header_bytes = sizeof(header_);
  header_.byte_order = format::kLittleEndian;
  header_.pointer_bytes = 8;
  header_.architecture = static_cast<uint16_t>(format::Architecture::kX86_64);
  header_.operating_system =
      static_cast<uint16_t>(format::OperatingSystem::kLinux);
  for (uint8_t i = 0; i < 16; ++i) {
    header_.report_uuid[i] = static_cast<uint8_t>(uuid_seed + i * 0x11);
  }
  header_.report_uuid[6] = (header_.report_uuid[6] & 0x0f) | 0x40;
  header_.report_uuid[8] = (header_.report_uuid[8] & 0x3f) | 0x80;
  header_.installer.pid_namespace = 4026531836;
  header_.installer.start_ticks = 123456;
  header_.installer.pid = 4711;
  header_.owner = header_.installer;
  header_.first_part_bytes = 256 << 10;
  header_.claim = 4711 | uint64_t{123456} << 32;
  header_.state = static_cast<uint32_t>(format::SlotState::kSealed);
}

void SampleFile::Text(Field field, std::string_view text) {
  records_.PutString(field, text.data(), text.size());
}
void SampleFile::Number(Field field, uint64_t value) {
  records_.PutUnsigned(field, value);
}
void SampleFile::Signed(Field field, int64_t value) {
  records_.PutSigned(field, value);
}
void SampleFile::Address(Field field, uint64_t value) {
  records_.PutAddress(field, value);
}
void SampleFile::Bytes(Field field, const std::vector<uint8_t>& bytes) {
  records_.PutBytes(field, bytes.data(), bytes.size());
}
void SampleFile::Pack(Field field, const Packed& packed) {
  records_.PutPacked(field, packed.bytes().data(), packed.bytes().size());
}
void SampleFile::Group(Field field, const std::function<void()>& body) {
  const writer::ScopedGroup group(&records_, field);
  body();
}

void SampleFile::BeginSection() {
  if (section_start_ == 0) {
    header_.committed_bytes = records_.position();
  }
  CloseSection();
  section_start_ = records_.position();
  const std::vector<uint8_t> room(sizeof(format::SectionHeader));
  records_.PutRecords(room.data(), room.size());
}

void SampleFile::CloseSection() {
  if (section_start_ == 0) {
    return;
  }
  format::SectionHeader section{};
  const size_t payload = section_start_ + sizeof(section);
  std::memcpy(section.magic, format::kSectionMagic, sizeof(section.magic));
  section.version = 1;
  section.payload_bytes = records_.position() - payload;
  section.payload_crc = safe::Crc32c(
      0, buffer_.data() + payload, static_cast<size_t>(section.payload_bytes));
  section.header_crc =
      safe::Crc32c(0, &section, offsetof(format::SectionHeader, header_crc));
  std::memcpy(buffer_.data() + section_start_, &section, sizeof(section));
}

std::vector<uint8_t> SampleFile::Finish() {
  if (section_start_ == 0) {
    header_.committed_bytes = records_.position();
  }
  CloseSection();
  const uint8_t* header = reinterpret_cast<const uint8_t*>(&header_);
  header_.header_crc = safe::Crc32c(
      safe::Crc32c(0, header, offsetof(format::FileHeader, header_crc)),
      header_.report_uuid,
      sizeof(header_.report_uuid));
  std::memcpy(buffer_.data(), &header_, sizeof(header_));
  buffer_.resize(records_.position());
  return std::move(buffer_);
}

Packed Stack(uint64_t shared, std::initializer_list<SampleFrame> frames) {
  Packed packed;
  packed.Add(shared);
  for (const SampleFrame& frame : frames) {
    packed.Add(static_cast<uint64_t>(frame.image + 1))
        .Add(frame.offset)
        .Add(static_cast<uint64_t>(frame.trust) |
             static_cast<uint64_t>(frame.kind) << 4);
  }
  return packed;
}

Packed Registers(std::initializer_list<std::pair<unsigned, uint64_t>> values,
                 std::vector<uint64_t>* previous) {
  previous->resize(64);
  uint64_t present = 0, changed = 0;
  Packed differences;
  for (const auto& [index, value] : values) {
    present |= uint64_t{1} << index;
    if (value != (*previous)[index]) {
      changed |= uint64_t{1} << index;
      differences.AddSigned(static_cast<int64_t>(value - (*previous)[index]));
      (*previous)[index] = value;
    }
  }
  return Packed().Add(present).Add(changed).Append(differences);
}

}  // namespace cairn::samples
