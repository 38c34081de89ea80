// SPDX-License-Identifier: Apache-2.0
//
// Address → function, from a Mach-O file's symbol table and export trie.
//
// Ordinary code; one thread. Built once: 24 bytes a function; names stay in the
// file and are read when asked for.
//
// Symbols of Mach-O have no size. One reaches to the next symbol of its
// section, the next function start, or the section's end, whichever comes
// first. A function that starts without a symbol (in a stripped file) has no
// name: it is never given that of the function before it. Debugging, undefined
// and absolute entries are no functions, nor is what lies outside of code.
#ifndef CAIRN_SYMBOLICATE_MACHO_SYMBOLS_H_
#define CAIRN_SYMBOLICATE_MACHO_SYMBOLS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolicate/macho_file.h"

namespace cairn::symbolicate {

class MachOSymbols {
 public:
  struct Function {
    uint64_t start = 0;
    std::string name;  // without the leading underscore that C names have
    bool thumb = false;
  };

  // `layout` has the sections and function starts, `table` the symbols; they
  // are the same file, or a program and its dSYM. Where `table` has no symbols
  // for an address the exports of `layout` give them.
  MachOSymbols(std::shared_ptr<const MachOFile> layout,
               std::shared_ptr<const MachOFile> table);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // Where several names share an address: exported before private before local
  // before weak, then fewer leading underscores, the shorter, the first by
  // alphabet. On 32-bit ARM bit 0 of `address` is ignored.
  std::optional<Function> Find(uint64_t address) const;

 private:
  struct Entry {
    uint64_t address;
    uint32_t bytes;
    uint32_t name;  // offset in the string table, or index in exports_
    uint8_t rank;   // lower is better
    bool exported;  // the name is in exports_
    bool thumb;
  };

  void AddTable();
  template <typename Nlist>
  void AddChunk(const std::vector<uint8_t>& raw, size_t count);
  void AddExports();
  void Keep(const MachOSection& section, const Entry& entry);
  void Finish();
  uint64_t EndOf(size_t index) const;
  std::string NameOf(const Entry& entry) const;

  std::shared_ptr<const MachOFile> layout_, table_;
  std::vector<uint64_t> starts_;
  std::vector<std::string> exports_;
  std::vector<Entry> entries_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_MACHO_SYMBOLS_H_
