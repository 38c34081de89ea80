// SPDX-License-Identifier: Apache-2.0
#include "unwind_tables.h"

#include <algorithm>
#include <cstring>
#include <vector>

extern "C" void __register_frame(void*);

namespace mach_host {
namespace {

// Modes and fields of x86_64 encodings.
constexpr std::uint32_t kModeMask = 0x0f000000, kModeRbp = 0x01000000,
                        kModeStack = 0x02000000,
                        kModeStackIndirect = 0x03000000,
                        kModeDwarf = 0x04000000;
constexpr std::uint32_t kHasLsda = 0x40000000;
// Compact register numbers → DWARF's.
constexpr std::uint8_t kDwarfRegister[] = {0, 3, 12, 13, 14, 15, 6};

class Table {
 public:
  void U8(std::uint8_t value) { bytes_.push_back(value); }
  template <typename T>
  void Word(T value) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
  }
  void Uleb(std::uint64_t value) {
    do {
      const std::uint8_t low = value & 0x7f;
      value >>= 7;
      U8(value != 0 ? low | 0x80 : low);
    } while (value != 0);
  }
  std::size_t size() const { return bytes_.size(); }
  void Patch(std::size_t at, std::uint32_t value) {
    std::memcpy(&bytes_[at], &value, 4);
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

// A record begins with its length, filled in by Close, padded to eight bytes.
std::size_t Open(Table* table) {
  table->Word(std::uint32_t{0});
  return table->size() - 4;
}
void Close(Table* table, std::size_t start) {
  while ((table->size() - start - 4) % 8 != 4)
    table->U8(0);  // DW_CFA_nop
  table->Patch(start, static_cast<std::uint32_t>(table->size() - start - 4));
}

// "zPL" with absolute pointers: personality, LSDA and addresses are 8 bytes.
std::size_t WriteCie(Table* table, std::uint64_t personality) {
  const std::size_t start = Open(table);
  table->Word(std::uint32_t{0});
  table->U8(1);
  const char* augmentation = personality != 0 ? "zPL" : "z";
  for (const char* c = augmentation; *c != 0; ++c)
    table->U8(static_cast<std::uint8_t>(*c));
  table->U8(0);
  table->Uleb(1);   // code alignment
  table->U8(0x78);  // data alignment −8
  table->Uleb(16);  // return address column
  if (personality != 0) {
    table->Uleb(10);
    table->U8(0);  // DW_EH_PE_absptr
    table->Word(personality);
    table->U8(0);
  } else {
    table->Uleb(0);
  }
  table->U8(0x0c), table->Uleb(7), table->Uleb(8);  // DW_CFA_def_cfa rsp+8
  table->U8(0x80 | 16), table->Uleb(1);             // ra at cfa−8
  Close(table, start);
  return start;
}

void SavedAt(Table* table, std::uint8_t reg, std::uint64_t words_below_cfa) {
  table->U8(0x80 | reg);
  table->Uleb(words_below_cfa);
}

void WriteRules(Table* table, std::uint32_t encoding, std::uint64_t function) {
  const std::uint32_t mode = encoding & kModeMask;
  if (mode == kModeRbp) {
    table->U8(0x0c), table->Uleb(6), table->Uleb(16);
    SavedAt(table, 6, 2);
    const std::uint32_t offset = (encoding >> 16) & 0xff;
    for (unsigned i = 0; i < 5; ++i) {
      const std::uint32_t reg = (encoding >> (3 * i)) & 7;
      if (reg != 0)
        SavedAt(table, kDwarfRegister[reg], 2 + offset - i);
    }
    return;
  }
  std::uint64_t words = (encoding >> 16) & 0xff;
  const std::uint32_t count = (encoding >> 10) & 7;
  if (mode == kModeStackIndirect) {
    std::uint32_t immediate;
    std::memcpy(&immediate, reinterpret_cast<const void*>(function + words), 4);
    words = immediate / 8 + ((encoding >> 13) & 7);
  }
  table->U8(0x0e), table->Uleb(words * 8);  // DW_CFA_def_cfa_offset
  // The permutation is a number in a factorial base over the registers left.
  std::uint32_t permutation = encoding & 0x3ff;
  std::vector<std::uint32_t> left = {1, 2, 3, 4, 5, 6};
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t base = 1;
    for (std::uint32_t k = 1; k < count - i; ++k)
      base *= 6 - count + k;
    const std::uint32_t digit = std::min(
        permutation / base, static_cast<std::uint32_t>(left.size() - 1));
    permutation -= digit * base;
    SavedAt(table, kDwarfRegister[left[digit]], 1 + count - i);
    left.erase(left.begin() + digit);
  }
}

struct Entry {
  std::uint32_t offset, encoding;
};

template <typename T>
T At(const std::uint8_t* base, std::uint64_t offset) {
  T value;
  std::memcpy(&value, base + offset, sizeof value);
  return value;
}

// Every function of __unwind_info, in order, both kinds of second-level page.
std::vector<Entry> ReadEntries(const std::uint8_t* base) {
  std::vector<Entry> entries;
  const auto common_offset = At<std::uint32_t>(base, 4),
             common_count = At<std::uint32_t>(base, 8);
  const auto index_offset = At<std::uint32_t>(base, 20),
             index_count = At<std::uint32_t>(base, 24);
  for (std::uint32_t i = 0; i + 1 < index_count; ++i) {
    const auto function = At<std::uint32_t>(base, index_offset + 12 * i);
    const auto page = At<std::uint32_t>(base, index_offset + 12 * i + 4);
    if (page == 0)
      continue;
    if (At<std::uint32_t>(base, page) == 2) {
      const auto offset = At<std::uint16_t>(base, page + 4),
                 count = At<std::uint16_t>(base, page + 6);
      for (std::uint32_t e = 0; e < count; ++e)
        entries.push_back({At<std::uint32_t>(base, page + offset + 8 * e),
                           At<std::uint32_t>(base, page + offset + 8 * e + 4)});
      continue;
    }
    const auto offset = At<std::uint16_t>(base, page + 4),
               count = At<std::uint16_t>(base, page + 6),
               own_offset = At<std::uint16_t>(base, page + 8);
    for (std::uint32_t e = 0; e < count; ++e) {
      const auto word = At<std::uint32_t>(base, page + offset + 4 * e);
      const std::uint32_t index = word >> 24;
      const std::uint32_t encoding =
          index < common_count
              ? At<std::uint32_t>(base, common_offset + 4 * index)
              : At<std::uint32_t>(
                    base, page + own_offset + 4 * (index - common_count));
      entries.push_back({function + (word & 0xffffff), encoding});
    }
  }
  // The index's last entry holds the end of the last function.
  entries.push_back(
      {At<std::uint32_t>(base, index_offset + 12 * (index_count - 1)), 0});
  return entries;
}

std::uint32_t FindLsda(const std::uint8_t* base, std::uint32_t function) {
  const auto index_offset = At<std::uint32_t>(base, 20),
             index_count = At<std::uint32_t>(base, 24);
  const auto first = At<std::uint32_t>(base, index_offset + 8);
  const auto last =
      At<std::uint32_t>(base, index_offset + 12 * (index_count - 1) + 8);
  for (std::uint32_t at = first; at + 8 <= last; at += 8)
    if (At<std::uint32_t>(base, at) == function)
      return At<std::uint32_t>(base, at + 4);
  return 0;
}

}  // namespace

void RegisterUnwindTables(const Image& image) {
  if (const Section* dwarf = image.FindSection("__TEXT", "__eh_frame");
      dwarf != nullptr) {
    // In place, as its pointers are relative to where they stand. Such a table
    // ends with a zero word; both linkers put it last in its segment, before
    // zero padding.
    const std::uint64_t end = dwarf->address + image.slide() + dwarf->size;
    if (At<std::uint32_t>(reinterpret_cast<const std::uint8_t*>(end), 0) == 0)
      __register_frame(reinterpret_cast<void*>(dwarf->address + image.slide()));
  }
  const Section* compact = image.FindSection("__TEXT", "__unwind_info");
  if (compact == nullptr || compact->size < 28)
    return;
  const auto* base =
      reinterpret_cast<const std::uint8_t*>(compact->address + image.slide());
  const auto personalities = At<std::uint32_t>(base, 12);
  const auto personality_count = At<std::uint32_t>(base, 16);
  Table table;
  std::vector<std::size_t> cies = {WriteCie(&table, 0)};
  for (std::uint32_t i = 0; i < personality_count; ++i) {
    const auto slot = At<std::uint32_t>(base, personalities + 4 * i);
    cies.push_back(WriteCie(
        &table,
        At<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(image.header()),
                          slot)));
  }
  const std::vector<Entry> entries = ReadEntries(base);
  for (std::size_t i = 0; i + 1 < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const std::uint32_t mode = entry.encoding & kModeMask;
    if (mode != kModeRbp && mode != kModeStack && mode != kModeStackIndirect)
      continue;
    const std::uint32_t personality = (entry.encoding >> 28) & 3;
    const std::uint64_t function = image.header() + entry.offset;
    const std::size_t start = Open(&table);
    table.Word(static_cast<std::uint32_t>(table.size() - cies[personality]));
    table.Word(function);
    table.Word(std::uint64_t{entries[i + 1].offset - entry.offset});
    if (personality != 0) {
      const std::uint32_t lsda =
          (entry.encoding & kHasLsda) != 0 ? FindLsda(base, entry.offset) : 0;
      table.Uleb(8);
      table.Word(lsda == 0 ? std::uint64_t{0} : image.header() + lsda);
    } else {
      table.Uleb(0);
    }
    WriteRules(&table, entry.encoding, function);
    Close(&table, start);
  }
  table.Word(std::uint32_t{0});
  auto* kept = new std::vector<std::uint8_t>(std::move(table.bytes()));
  __register_frame(kept->data());
}

}  // namespace mach_host
