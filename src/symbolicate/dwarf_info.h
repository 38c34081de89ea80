// SPDX-License-Identifier: Apache-2.0
//
// One file's .debug_info with the sections that it points into: units, entries
// (DIEs), and what the values of their attributes mean.
//
// Ordinary code, one thread. Lazy: nothing is read that is not asked for.
// Hostile input: every offset is checked; a unit that is damaged ends there.
#ifndef CAIRN_SYMBOLICATE_DWARF_INFO_H_
#define CAIRN_SYMBOLICATE_DWARF_INFO_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbolicate/debug_sections.h"
#include "symbolicate/dwarf_abbreviations.h"
#include "symbolicate/dwarf_form.h"
#include "symbolicate/dwarf_section.h"

namespace cairn::symbolicate {

class DwarfInfo;

struct DwarfUnit {
  DwarfInfo* info = nullptr;
  // Of a split unit (.dwo): the one in the program that stands for it.
  const DwarfUnit* skeleton = nullptr;
  uint64_t offset = 0, first_die = 0, end = 0;  // in .debug_info
  uint8_t type = 0;
  DwarfSizes sizes;
  std::shared_ptr<const DwarfAbbreviations> abbreviations;
  uint64_t abbreviations_offset = 0;
  // From the root entry.
  uint16_t tag = 0;
  uint64_t low_address = 0;
  DwarfValue low_pc, high_pc, ranges;
  std::optional<uint64_t> line_offset;
  uint64_t strings_base = 0, addresses_base = 0, range_lists_base = 0;
  uint64_t gnu_ranges_base = 0;
  uint64_t dwo_id = 0;
  std::string directory, dwo_name;
  bool has_dwo_id = false;
};

// The attributes of one entry that are used here.
struct DwarfDie {
  uint16_t tag = 0;
  DwarfValue name, linkage_name, origin, specification;
};

// Where the parts of a split unit begin, in a package (.dwp) of many.
struct DwarfContribution {
  uint64_t info = 0, info_bytes = 0, abbreviations = 0, string_offsets = 0,
           range_lists = 0;
};

class DwarfInfo {
 public:
  // `is_split`: the sections' names end in ".dwo".
  DwarfInfo(std::shared_ptr<const DebugSections> sections, bool is_split);

  // The unit with its header at `offset`; null when it is none. Kept.
  const DwarfUnit* UnitAt(uint64_t offset);
  // The unit that holds the entry at `offset`.
  const DwarfUnit* UnitHolding(uint64_t offset);
  // A split unit, for its skeleton.
  const DwarfUnit* SplitUnit(const DwarfContribution& where,
                             const DwarfUnit* skeleton);
  // Offsets of all units' headers, found by stepping from one to the next.
  const std::vector<uint64_t>& UnitOffsets();

  std::optional<DwarfDie> ReadDie(const DwarfUnit& unit, uint64_t offset) const;
  std::string Text(const DwarfUnit& unit, const DwarfValue& value) const;
  std::optional<uint64_t> Address(const DwarfUnit& unit,
                                  const DwarfValue& value) const;
  // Calls `take(low, high)` for each range that is not empty and lies in code.
  using TakeRange = std::function<void(uint64_t low, uint64_t high)>;
  void Ranges(const DwarfUnit& unit,
              const DwarfValue& low_pc,
              const DwarfValue& high_pc,
              const DwarfValue& ranges,
              const TakeRange& take) const;

  const DebugSections& sections() const { return *sections_; }
  const DwarfSection& info() const { return info_; }
  const DwarfSection& lines() const { return lines_; }
  const DwarfSection& line_strings() const { return line_strings_; }
  const DwarfSection& strings() const { return strings_; }

  // The file that dwz moved shared entries to; null: none.
  void set_alternate(DwarfInfo* alternate) { alternate_ = alternate; }
  DwarfInfo* alternate() const { return alternate_; }

 private:
  std::unique_ptr<DwarfUnit> ReadHeader(uint64_t offset, uint64_t end) const;
  std::shared_ptr<const DwarfAbbreviations> AbbreviationsAt(
      uint64_t offset,
      const DwarfSizes& sizes);
  void ReadRoot(DwarfUnit* unit);
  std::optional<uint64_t> AddressAt(const DwarfUnit& unit,
                                    uint64_t index) const;
  void OldRangeList(const DwarfUnit& unit,
                    uint64_t offset,
                    const TakeRange& take) const;
  void RangeList(const DwarfUnit& unit,
                 uint64_t offset,
                 const TakeRange& take) const;
  std::optional<std::pair<uint64_t, uint64_t>> RangeEntry(const DwarfUnit& unit,
                                                          uint8_t kind,
                                                          DwarfCursor* in,
                                                          uint64_t* base) const;
  void Take(uint64_t low, uint64_t high, const TakeRange& take) const;

  std::shared_ptr<const DebugSections> sections_;
  const DebugSections* code_;  // who knows where code is: the program
  DwarfSection info_, abbreviations_, strings_, line_strings_, string_offsets_,
      addresses_, ranges_, range_lists_, lines_;
  DwarfInfo* alternate_ = nullptr;
  std::map<uint64_t, std::unique_ptr<DwarfUnit>> units_;
  std::map<std::pair<uint64_t, uint64_t>,
           std::shared_ptr<const DwarfAbbreviations>>
      tables_;
  std::vector<uint64_t> offsets_;
  bool has_offsets_ = false;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_INFO_H_
