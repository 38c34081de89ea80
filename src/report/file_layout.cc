// SPDX-License-Identifier: Apache-2.0
#include "report/file_layout.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "safe/crc32c.h"

namespace cairn::report {
namespace {

using format::FileHeader;
using format::SectionHeader;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "headers are copied as they stand in the file");

bool HeaderChecksumRight(const FileHeader& header, const uint8_t* bytes) {
  const uint32_t first =
      safe::Crc32c(0, bytes, offsetof(FileHeader, header_crc));
  return header.header_crc ==
         safe::Crc32c(first, header.report_uuid, sizeof(header.report_uuid));
}

// More appended sections than any number of launches makes.
constexpr size_t kMaxSections = 1024;

enum class SectionState { kNone, kDamaged, kWhole };

// One wrong byte in the magic must not make a section vanish unnoticed: it is
// taken for one when either the magic or the checksum with the magic is right.
SectionState ReadSectionHeader(const uint8_t* bytes,
                               size_t left,
                               SectionHeader* header) {
  if (left < sizeof(SectionHeader)) {
    const size_t there = std::min(left, sizeof(header->magic));
    const bool begun =
        there > 0 && std::memcmp(bytes, format::kSectionMagic, there) == 0;
    return begun ? SectionState::kDamaged : SectionState::kNone;
  }
  std::memcpy(header, bytes, sizeof(*header));
  const bool magic_right =
      std::memcmp(
          header->magic, format::kSectionMagic, sizeof(header->magic)) == 0;
  std::memcpy(header->magic, format::kSectionMagic, sizeof(header->magic));
  const bool checksum_right =
      header->header_crc ==
      safe::Crc32c(0, header, offsetof(SectionHeader, header_crc));
  if (magic_right && checksum_right) {
    return SectionState::kWhole;
  }
  return magic_right || checksum_right ? SectionState::kDamaged
                                       : SectionState::kNone;
}

class SectionReader {
 public:
  SectionReader(const uint8_t* bytes, size_t size, FileLayout* layout)
      : bytes_(bytes), size_(size), layout_(layout) {}

  void ReadAll(ProblemList* problems) {
    size_t position = layout_->records_end;
    while (const char* problem = ReadOne(&position)) {
      if (*problem == '\0') {
        continue;
      }
      if (problems != nullptr) {
        problems->Add(position, problem);
      }
      if (stop_) {
        return;
      }
      position = next_;
    }
  }

 private:
  // Null at the end, "" for a whole section, else what is wrong with it.
  const char* ReadOne(size_t* position) {
    SectionHeader header;
    const size_t left = size_ - *position;
    const SectionState state =
        ReadSectionHeader(bytes_ + *position, left, &header);
    if (state == SectionState::kNone) {
      return nullptr;
    }
    if (++seen_ > kMaxSections) {
      stop_ = true;
      return "too many appended sections";
    }
    const bool cut = state == SectionState::kWhole &&
                     header.payload_bytes > left - sizeof(header);
    if (state == SectionState::kDamaged || cut) {
      stop_ = true;
      return cut ? "an appended section is cut"
                 : "an appended section is damaged: its header is wrong";
    }
    const size_t begin = *position + sizeof(header);
    const size_t end = begin + static_cast<size_t>(header.payload_bytes);
    next_ = end;
    if (header.payload_crc != safe::Crc32c(0, bytes_ + begin, end - begin)) {
      return "an appended section is damaged: its checksum is wrong";
    }
    layout_->sections.push_back({begin, end});
    layout_->used_bytes = end;
    *position = end;
    return "";
  }

  const uint8_t* bytes_;
  size_t size_;
  FileLayout* layout_;
  size_t next_ = 0;
  size_t seen_ = 0;
  bool stop_ = false;
};

}  // namespace

std::optional<FileLayout> LayOut(const uint8_t* bytes,
                                 size_t size,
                                 ProblemList* problems) {
  FileLayout layout;
  if (size < sizeof(FileHeader) ||
      std::memcmp(bytes, format::kMagic, sizeof(format::kMagic)) != 0) {
    return std::nullopt;
  }
  std::memcpy(&layout.header, bytes, sizeof(FileHeader));
  layout.header_sound = HeaderChecksumRight(layout.header, bytes);
  // A later version's header may be longer, never shorter.
  layout.records_begin = sizeof(FileHeader);
  if (layout.header_sound && layout.header.header_bytes > sizeof(FileHeader)) {
    layout.records_begin = std::min<size_t>(layout.header.header_bytes, size);
  }
  if (!layout.header_sound && problems != nullptr) {
    problems->Add(0, "the file's header is damaged: its checksum is wrong");
  }
  layout.committed_bytes =
      std::max<uint64_t>(layout.header.committed_bytes, layout.records_begin);
  layout.records_end =
      static_cast<size_t>(std::min<uint64_t>(layout.committed_bytes, size));
  layout.used_bytes = layout.records_end;
  if (layout.records_end < layout.committed_bytes) {
    if (problems != nullptr) {
      problems->Add(
          size,
          "the file is cut: " + std::to_string(layout.committed_bytes - size) +
              " bytes are missing");
    }
    return layout;
  }
  SectionReader(bytes, size, &layout).ReadAll(problems);
  return layout;
}

}  // namespace cairn::report
