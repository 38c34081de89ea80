// SPDX-License-Identifier: Apache-2.0
//
// Address → file, line, column, from one line program (DWARF 2 to 5).
//
// Ordinary code, one thread. The program is run once; kept is the state of the
// machine at every 64th row, from where a look-up runs on. So a table costs
// about half a byte a row, and a look-up some 64 steps.
#ifndef CAIRN_SYMBOLICATE_DWARF_LINE_TABLE_H_
#define CAIRN_SYMBOLICATE_DWARF_LINE_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbolicate/dwarf_info.h"
#include "symbolicate/range_index.h"

namespace cairn::symbolicate {

struct DwarfRow {
  uint64_t address = 0;
  uint32_t file = 1, line = 1, column = 0;
};

class DwarfLineTable {
 public:
  // The program that `unit` names (not a split unit: its skeleton).
  explicit DwarfLineTable(const DwarfUnit& unit);

  // The row that covers the address; nullopt where no sequence does.
  std::optional<DwarfRow> Find(uint64_t address) const;
  // The whole path of a file, as absolute as the program tells; "" when there
  // is no such file.
  std::string File(uint64_t number) const;

 private:
  struct Name {
    DwarfValue value;  // kFormString: `number` is where it stands
    uint64_t directory = 0;
  };
  struct Header {
    uint64_t program = 0, end = 0;  // in .debug_line
    DwarfSizes sizes;
    uint8_t least_bytes = 1, operations = 1, opcode_base = 13, line_range = 1;
    int8_t line_base = 0;
    std::vector<uint8_t> operands;  // by standard opcode
  };
  struct State : DwarfRow {
    uint32_t operation = 0;
    bool is_end = false;
  };
  // Behind the row that `state` is.
  struct Mark {
    State state;
    uint64_t offset;
  };
  struct Sequence {
    size_t first, count;  // in marks_
  };
  enum class Step { kNone, kRow, kStop };

  bool ReadHeader(uint64_t offset);
  void ReadNames(uint64_t base, DwarfCursor* in);
  void ReadNames5(uint64_t base, DwarfCursor* in, std::vector<Name>* names);
  void Run();
  void Advance(uint64_t operations, State* state) const;
  Step Special(uint8_t opcode, State* state) const;
  Step Standard(uint8_t opcode, DwarfCursor* in, State* state) const;
  Step Extended(DwarfCursor* in, State* state) const;
  Step Next(DwarfCursor* in, State* state) const;
  std::string TextOf(const Name& name) const;

  const DwarfUnit& unit_;
  Header header_;
  std::vector<Name> directories_, files_;
  std::vector<Mark> marks_;
  std::vector<Sequence> sequences_;
  RangeIndex index_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_LINE_TABLE_H_
