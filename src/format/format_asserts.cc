// SPDX-License-Identifier: Apache-2.0
//
// What the compiler must know of the report's tables: ids are used once, sorted
// and never 0, parents are groups that stand before their children, groups nest
// no deeper than a reader goes, enumerators are used once and fit their bytes.
// Sizes and offsets are asserted beside the structs.
//
// tests/checks/format_asserts_test.py breaks copies of the header one rule at a
// time and expects this file not to compile.
#include "format/register_names.h"
#include "format/report_format.h"
#include "format/varint.h"

namespace cairn::format {
namespace {

// The kinds a field may have in the table: a group is told by its begin mark.
enum class TableKind {
  kUnsigned,
  kSigned,
  kAddress,
  kString,
  kBytes,
  kPacked,
  kGroup
};

struct Row {
  uint16_t id;
  uint16_t parent;
  TableKind kind;
};

constexpr Row kRows[] = {
#define CAIRN_V(name, id, kind, parent, text) \
  {id, static_cast<uint16_t>(Field::k##parent), TableKind::k##kind},
    CAIRN_REPORT_FIELDS(CAIRN_V)
#undef CAIRN_V
};

constexpr const Row* Find(uint16_t id) {
  for (const Row& row : kRows) {
    if (row.id == id) {
      return &row;
    }
  }
  return nullptr;
}

constexpr bool IdsRise() {
  uint16_t last = 0;
  for (const Row& row : kRows) {
    if (row.id <= last) {
      return false;
    }
    last = row.id;
  }
  return true;
}

constexpr bool ParentsAreEarlierGroups() {
  for (const Row& row : kRows) {
    if (row.parent == 0) {
      continue;
    }
    const Row* parent = Find(row.parent);
    if (parent == nullptr || parent->kind != TableKind::kGroup ||
        parent->id >= row.id) {
      return false;
    }
  }
  return true;
}

// Parents stand before their children, so this ends.
constexpr int Depth(const Row& row) {
  return row.parent == 0 ? 1 : 1 + Depth(*Find(row.parent));
}

constexpr bool DepthIsWithinTheLimit() {
  for (const Row& row : kRows) {
    if (row.kind == TableKind::kGroup && Depth(row) > kMaxGroupDepth) {
      return false;
    }
  }
  return true;
}

static_assert(IdsRise(), "field ids: used twice, 0, or not sorted");
static_assert(ParentsAreEarlierGroups(), "a field's parent is no group");
static_assert(DepthIsWithinTheLimit(),
              "groups nest deeper than kMaxGroupDepth");

template <size_t kCount>
constexpr bool DistinctBytes(const int (&values)[kCount]) {
  for (size_t i = 0; i < kCount; ++i) {
    if (values[i] < 0 || values[i] > 0xff) {
      return false;
    }
    for (size_t j = 0; j < i; ++j) {
      if (values[i] == values[j]) {
        return false;
      }
    }
  }
  return true;
}

#define CAIRN_V(name, value, json) value,
constexpr int kEventKinds[] = {CAIRN_EVENT_KINDS(CAIRN_V)};
constexpr int kFaultKinds[] = {CAIRN_FAULT_KINDS(CAIRN_V)};
constexpr int kFrozenBys[] = {CAIRN_FROZEN_BYS(CAIRN_V)};
constexpr int kWalkEnds[] = {CAIRN_WALK_ENDS(CAIRN_V)};
constexpr int kFrameTrusts[] = {CAIRN_FRAME_TRUSTS(CAIRN_V)};
constexpr int kFrameKinds[] = {CAIRN_FRAME_KINDS(CAIRN_V)};
constexpr int kCutWhats[] = {CAIRN_CUT_WHATS(CAIRN_V)};
#undef CAIRN_V
static_assert(DistinctBytes(kEventKinds), "EventKind");
static_assert(DistinctBytes(kFaultKinds), "FaultKind");
static_assert(DistinctBytes(kFrozenBys), "FrozenBy");
static_assert(DistinctBytes(kWalkEnds), "WalkEnd");
static_assert(DistinctBytes(kCutWhats), "CutWhat");

// A frame node stores `trust | kind << 4`.
static_assert(DistinctBytes(kFrameTrusts), "FrameTrust");
static_assert(DistinctBytes(kFrameKinds), "FrameKind");
constexpr bool FitFourBits() {
  for (int trust : kFrameTrusts) {
    if (trust > 0xf) {
      return false;
    }
  }
  for (int kind : kFrameKinds) {
    if (kind > 0xf) {
      return false;
    }
  }
  return true;
}
static_assert(FitFourBits(), "trust and kind share a byte");

// A record header is two bytes of field, one of kind, and a length that fits
// kMaxPayloadBytes in LEB128.
constexpr size_t VarintBytes(uint64_t value) {
  return value < 0x80 ? 1 : 1 + VarintBytes(value >> 7);
}
static_assert(3 + VarintBytes(kMaxPayloadBytes) <= kMaxRecordHeaderBytes);
static_assert(VarintBytes(~uint64_t{0}) == kMaxVarintBytes);

// The file starts with a byte that no text has behind it (a transfer that
// changes line ends is seen at once), and versions are not 0.
static_assert(kMagic[5] == '\r' && kMagic[6] == '\n' && kMagic[7] == 0x1a);
static_assert(kFormatVersion >= kLeastReaderVersion && kLeastReaderVersion > 0);

}  // namespace
}  // namespace cairn::format
