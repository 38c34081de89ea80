// SPDX-License-Identifier: Apache-2.0
#include "capture/eh_frame_search.h"

#include "capture/byte_reader.h"
#include "capture/cfi_table.h"
#include "safe/bytes.h"

namespace cairn::capture {
namespace {

constexpr uint64_t kMaxSearchedBytes = 16 << 20;
constexpr size_t kPieceBytes = 1024;
// What a CIE begins with: length, id 0, version, "z…".
constexpr size_t kShapeBytes = 10;
constexpr uint32_t kLeastCieBytes = 12;
constexpr uint32_t kMostCieBytes = 256;
// Entries in a row that must make sense.
constexpr int kCheckedEntries = 6;

bool LooksLikeCie(const uint8_t* bytes) {
  uint32_t length = 0;
  uint32_t id = 0;
  safe::Copy(&length, bytes, 4);
  safe::Copy(&id, bytes + 4, 4);
  return length >= kLeastCieBytes && length <= kMostCieBytes &&
         length % 4 == 0 && id == 0 && (bytes[8] == 1 || bytes[8] == 3) &&
         bytes[9] == 'z';
}

bool IsCodeOf(const Image& image, uint64_t address) {
  for (uint32_t i = 0; i < image.segment_count; ++i) {
    const ImageSegment& segment = image.segments[i];
    if ((segment.flags & kSegmentExecute) != 0 &&
        address - segment.address < segment.bytes) {
      return true;
    }
  }
  return false;
}

// True when a row of entries from `start` on is well-formed and has at least
// one FDE.
bool StartsFrames(const safe::MemoryReader& memory,
                  uint64_t start,
                  uint64_t end,
                  int pointer_bytes,
                  const Image& image) {
  uint64_t at = start;
  int described = 0;
  for (int i = 0; i < kCheckedEntries; ++i) {
    ByteReader bytes(memory, at, end);
    const uint32_t length = bytes.U32();
    if (length == 0) {
      break;
    }
    if (!bytes.ok() || length > end - bytes.address()) {
      return false;
    }
    const uint64_t next = bytes.address() + length;
    const uint64_t pointer_at = bytes.address();
    const uint32_t distance = bytes.U32();
    CfiEntry entry;
    if (distance != 0 && (distance > pointer_at - start ||
                          !ParseFde(memory, at, end, pointer_bytes, &entry) ||
                          !IsCodeOf(image, entry.begin))) {
      return false;
    }
    described += distance != 0 ? 1 : 0;
    at = next;
  }
  return described > 0;
}

// Looks through one segment; returns where the section starts, 0: nowhere.
uint64_t SearchSegment(const safe::MemoryReader& memory,
                       const ImageSegment& segment,
                       int pointer_bytes,
                       const Image& image,
                       uint64_t* budget) {
  uint8_t piece[kPieceBytes + kShapeBytes];
  const uint64_t end = segment.address + segment.bytes;
  for (uint64_t at = segment.address; at < end && *budget >= kPieceBytes;
       at += kPieceBytes, *budget -= kPieceBytes) {
    const size_t got = memory.ReadSome(at, piece, sizeof(piece));
    for (size_t i = 0; i < kPieceBytes && i + kShapeBytes <= got; i += 4) {
      if (LooksLikeCie(piece + i) &&
          StartsFrames(memory, at + i, end, pointer_bytes, image)) {
        return at + i;
      }
    }
    if (got < kPieceBytes) {
      break;
    }
  }
  return 0;
}

}  // namespace

void FindEhFrame(const safe::MemoryReader& memory,
                 int pointer_bytes,
                 Image* image) {
  uint64_t budget = kMaxSearchedBytes;
  for (uint32_t i = 0; i < image->segment_count; ++i) {
    const ImageSegment& segment = image->segments[i];
    if ((segment.flags & kSegmentRead) == 0 ||
        (segment.flags & kSegmentWrite) != 0) {
      continue;
    }
    const uint64_t found =
        SearchSegment(memory, segment, pointer_bytes, *image, &budget);
    if (found != 0) {
      image->eh_frame = found;
      image->eh_frame_bytes = segment.address + segment.bytes - found;
      return;
    }
  }
}

}  // namespace cairn::capture
