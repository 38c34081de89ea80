// SPDX-License-Identifier: Apache-2.0
//
// Address → function, from the symbol tables of ELF files.
//
// Ordinary code; one thread. Built once: 24 bytes a function, the names stay in
// the files and are read when asked for.
//
// What a symbol covers: a symbol with a size covers just that. One without
// (hand-written assembly) reaches to the next symbol of its section, at most to
// the section's end; one inside a function with a size is a label there and
// does not count. What nothing covers has no name: padding and the gaps between
// sections are never counted to the function before them.
#ifndef CAIRN_SYMBOLICATE_SYMBOL_INDEX_H_
#define CAIRN_SYMBOLICATE_SYMBOL_INDEX_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolicate/elf_file.h"

namespace cairn::symbolicate {

class SymbolIndex {
 public:
  struct Function {
    uint64_t start = 0;
    std::string name;  // as the file has it, without the version
  };

  // Takes the functions of a symbol table, by preference of earlier tables.
  // A damaged table adds what is readable before the damage.
  void Add(std::shared_ptr<const ElfFile> file, const ElfSection& table);
  // After the last Add, before the first Find.
  void Finish();

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // The innermost function that covers a linked address. Where several names
  // share its start: global before local before weak, then the one with fewer
  // leading underscores, the shorter, the first by alphabet.
  std::optional<Function> Find(uint64_t address) const;

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Entry {
    uint64_t address;
    uint32_t bytes;
    uint32_t name;    // offset in the string table
    uint32_t parent;  // nearest earlier entry that reaches over this start
    uint8_t table;    // index into tables_
    uint8_t rank;     // lower is better
    bool has_size;
  };
  struct Table {
    std::shared_ptr<const ElfFile> file;
    ElfSection strings;
  };
  struct RawSymbol;

  bool Keep(const ElfFile& file, const RawSymbol& symbol);
  void GiveSizes();
  void DropLabelsAndCopies();
  void LinkParents();
  bool Covers(uint32_t index, uint64_t address) const;
  Function BestOf(uint32_t last, uint64_t address) const;
  std::string NameOf(const Entry& entry) const;

  std::vector<Entry> entries_;
  std::vector<Table> tables_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_SYMBOL_INDEX_H_
