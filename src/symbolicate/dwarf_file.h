// SPDX-License-Identifier: Apache-2.0
//
// Address → functions, files and lines, from the DWARF of one object file.
//
// Ordinary code, one thread. Lazy: a unit is read at the first address in it.
// Hostile input: bounded in time, memory and depth.
#ifndef CAIRN_SYMBOLICATE_DWARF_FILE_H_
#define CAIRN_SYMBOLICATE_DWARF_FILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolicate/debug_sections.h"
#include "symbolicate/dwarf_functions.h"
#include "symbolicate/dwarf_info.h"
#include "symbolicate/dwarf_line_table.h"
#include "symbolicate/dwarf_split.h"
#include "symbolicate/dwarf_unit_ranges.h"

namespace cairn::symbolicate {

struct SourceFrame {
  std::string function;  // mangled where the file has it so; "": not told
  std::string file;      // "": not told
  uint32_t line = 0, column = 0;
  bool inlined = false;
};

class DwarfFile {
 public:
  // `alternate`: what dwz shared between files, or null. `split`: where split
  // units are found.
  DwarfFile(std::shared_ptr<const DebugSections> sections,
            std::shared_ptr<const DebugSections> alternate,
            SplitFiles split);

  // Innermost first; an inlined call before the function that holds it. Empty
  // when nothing is told about the address.
  std::vector<SourceFrame> Find(uint64_t address);
  bool empty() const { return info_.info().size() == 0; }

 private:
  struct UnitTables {
    std::unique_ptr<DwarfFunctions> functions;
    std::unique_ptr<DwarfLineTable> lines;
  };
  UnitTables& TablesOf(const DwarfUnit& unit);
  const DwarfUnit& WholeUnit(const DwarfUnit& unit);
  std::vector<SourceFrame> FindIn(const DwarfUnit& unit, uint64_t address);
  const std::string& FunctionName(const DwarfUnit& unit, uint64_t die);
  std::string ReadFunctionName(const DwarfUnit& unit, uint64_t die);

  DwarfInfo info_;
  std::unique_ptr<DwarfInfo> alternate_;
  SplitUnits split_;
  DwarfUnitRanges ranges_;
  std::map<const DwarfUnit*, UnitTables> tables_;
  std::map<std::pair<const DwarfUnit*, uint64_t>, std::string> names_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_FILE_H_
