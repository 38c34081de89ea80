// SPDX-License-Identifier: Apache-2.0
//
// Address → unit.
//
// Ordinary code, one thread. .debug_aranges answers first; it is never trusted
// to be complete, so what it does not know is looked up in the ranges of every
// unit's root entry, and at last in the units that tell no ranges.
#ifndef CAIRN_SYMBOLICATE_DWARF_UNIT_RANGES_H_
#define CAIRN_SYMBOLICATE_DWARF_UNIT_RANGES_H_

#include <cstdint>
#include <vector>

#include "symbolicate/dwarf_info.h"
#include "symbolicate/range_index.h"

namespace cairn::symbolicate {

class DwarfUnitRanges {
 public:
  explicit DwarfUnitRanges(DwarfInfo* info) : info_(info) {}

  // The units that may hold the address, best first.
  std::vector<const DwarfUnit*> Find(uint64_t address);

 private:
  struct Table {
    RangeIndex index;
    std::vector<uint64_t> units;
    bool is_read = false;
  };
  void ReadTable();
  bool ReadSet(DwarfCursor* in);
  void ReadRoots();
  const DwarfUnit* UnitIn(const Table& table, uint64_t address);

  DwarfInfo* info_;
  Table told_, roots_;
  std::vector<const DwarfUnit*> without_ranges_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_UNIT_RANGES_H_
