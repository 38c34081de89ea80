// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dwarf_unit_ranges.h"

#include "symbolicate/dwarf_constants.h"
#include "symbolicate/dwarf_cursor.h"

namespace cairn::symbolicate {
namespace {

constexpr uint64_t kMaxTableBytes = 512u << 20;
constexpr size_t kMaxRanges = 32u << 20;

}  // namespace

// One unit's part: a header, padding to twice an address, pairs of {address,
// length} up to (0, 0).
bool DwarfUnitRanges::ReadSet(DwarfCursor* in) {
  const size_t begin = in->offset();
  uint64_t length = in->U32();
  const bool is_64 = length == 0xffffffff;
  length = is_64 ? in->U64() : length;
  if (!in->ok() || length > in->left()) {
    return false;
  }
  const size_t end = in->offset() + static_cast<size_t>(length);
  in->U16();
  const uint64_t unit = in->Unsigned(is_64 ? 8 : 4);
  const int bytes = in->U8();
  const int segment = in->U8();
  if ((bytes == 4 || bytes == 8) && segment == 0 && in->offset() <= end) {
    const auto pair = static_cast<size_t>(2 * bytes);
    in->Skip((pair - (in->offset() - begin) % pair) % pair);
    told_.units.push_back(unit);
    while (in->ok() && in->offset() + pair <= end &&
           told_.index.size() < kMaxRanges) {
      const uint64_t low = in->Unsigned(bytes);
      const uint64_t size = in->Unsigned(bytes);
      if (low == 0 && size == 0) {
        break;
      }
      if (low + size > low && info_->sections().IsCode(low)) {
        told_.index.Add(
            low, low + size, static_cast<uint32_t>(told_.units.size() - 1));
      }
    }
  }
  in->MoveTo(end);
  return in->ok();
}

void DwarfUnitRanges::ReadTable() {
  told_.is_read = true;
  if (const auto source = info_->sections().Find(".debug_aranges")) {
    const auto bytes = DwarfSection(source).Part(0, kMaxTableBytes);
    DwarfCursor in(bytes.data(), bytes.size());
    while (!in.at_end() && ReadSet(&in)) {
    }
  }
  told_.index.Finish();
}

void DwarfUnitRanges::ReadRoots() {
  roots_.is_read = true;
  for (uint64_t offset : info_->UnitOffsets()) {
    const DwarfUnit* unit = info_->UnitAt(offset);
    if (unit == nullptr || unit->type == dwarf::kUnitType ||
        unit->tag == dwarf::kTagPartialUnit) {
      continue;
    }
    bool has_ranges = false;
    roots_.units.push_back(offset);
    info_->Ranges(
        *unit,
        unit->low_pc,
        unit->high_pc,
        unit->ranges,
        [&](uint64_t low, uint64_t high) {
          has_ranges = true;
          roots_.index.Add(
              low, high, static_cast<uint32_t>(roots_.units.size() - 1));
        });
    if (!has_ranges && !unit->ranges && !unit->high_pc) {
      without_ranges_.push_back(unit);
    }
  }
  roots_.index.Finish();
}

const DwarfUnit* DwarfUnitRanges::UnitIn(const Table& table, uint64_t address) {
  const RangeIndex::Range* range = table.index.Find(address);
  return range == nullptr ? nullptr : info_->UnitAt(table.units[range->value]);
}

std::vector<const DwarfUnit*> DwarfUnitRanges::Find(uint64_t address) {
  if (!told_.is_read) {
    ReadTable();
  }
  if (const DwarfUnit* unit = UnitIn(told_, address)) {
    return {unit};
  }
  if (!roots_.is_read) {
    ReadRoots();
  }
  if (const DwarfUnit* unit = UnitIn(roots_, address)) {
    return {unit};
  }
  return without_ranges_;
}

}  // namespace cairn::symbolicate
