// SPDX-License-Identifier: Apache-2.0
//
// One abbreviation table: what each kind of entry (DIE) of a unit looks like.
//
// Ordinary code. Hostile input: at most 1 Mi attributes a table.
#ifndef CAIRN_SYMBOLICATE_DWARF_ABBREVIATIONS_H_
#define CAIRN_SYMBOLICATE_DWARF_ABBREVIATIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "symbolicate/dwarf_section.h"

namespace cairn::symbolicate {

struct DwarfAttributeSpec {
  uint16_t attribute, form;
  int64_t constant;  // for kFormImplicitConstant
};

struct DwarfAbbreviation {
  static constexpr uint32_t kVariable = UINT32_MAX;
  uint16_t tag = 0;  // 0: no such code
  bool has_children = false;
  bool has_code = false;          // names an address or ranges
  uint32_t first = 0, count = 0;  // in DwarfAbbreviations::specs
  uint32_t fixed_bytes = 0;       // of all attributes together, or kVariable
};

// Bytes of forms that depend on the unit.
struct DwarfSizes {
  uint8_t address = 8, offset = 4;
  uint16_t version = 4;
};

class DwarfAbbreviations {
 public:
  // Reads the table at `offset`; what is damaged ends it.
  DwarfAbbreviations(const DwarfSection& section,
                     uint64_t offset,
                     const DwarfSizes& sizes);

  const DwarfAbbreviation* Find(uint64_t code) const {
    if (code < table_.size()) {
      return table_[code].tag != 0 ? &table_[code] : nullptr;
    }
    return FindSparse(code);
  }
  const DwarfAttributeSpec* specs(const DwarfAbbreviation& of) const {
    return specs_.data() + of.first;
  }

 private:
  bool Parse(const std::vector<uint8_t>& bytes, const DwarfSizes& sizes);
  void Put(uint64_t code, const DwarfAbbreviation& abbreviation);
  const DwarfAbbreviation* FindSparse(uint64_t code) const;

  std::vector<DwarfAbbreviation> table_;  // by code
  std::map<uint64_t, DwarfAbbreviation> sparse_;
  std::vector<DwarfAttributeSpec> specs_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_ABBREVIATIONS_H_
