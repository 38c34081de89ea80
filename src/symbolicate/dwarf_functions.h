// SPDX-License-Identifier: Apache-2.0
//
// The functions of one unit, and the calls that were inlined into one.
//
// Ordinary code, one thread. Built by one pass over the unit's entries; keeps
// about 40 bytes a function. What was inlined is read when asked for.
#ifndef CAIRN_SYMBOLICATE_DWARF_FUNCTIONS_H_
#define CAIRN_SYMBOLICATE_DWARF_FUNCTIONS_H_

#include <cstdint>
#include <vector>

#include "symbolicate/dwarf_info.h"
#include "symbolicate/range_index.h"

namespace cairn::symbolicate {

// A function, or a call that was inlined.
struct DwarfCall {
  uint64_t die = 0;
  uint64_t file = 0, line = 0, column = 0;  // of the call; 0: not told
};

class DwarfFunctions {
 public:
  explicit DwarfFunctions(const DwarfUnit& unit);

  // The function that holds the address first, then what was inlined, outermost
  // first. Empty: none.
  std::vector<DwarfCall> Find(uint64_t address) const;
  bool empty() const { return index_.empty(); }

 private:
  struct Function {
    uint64_t die, end;  // of its entry and the entries below it
  };
  void Scan();
  void WalkInlined(const Function& function,
                   uint64_t address,
                   std::vector<DwarfCall>* chain) const;

  const DwarfUnit& unit_;
  std::vector<Function> functions_;
  RangeIndex index_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_FUNCTIONS_H_
