// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/symbol_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "symbolicate/elf_format.h"

namespace cairn::symbolicate {
namespace {

constexpr uint64_t kMaxSymbols = 16u << 20;  // looked at, per table
constexpr size_t kMaxFunctions = 4u << 20;   // kept
constexpr size_t kMaxTables = 8;
constexpr size_t kMaxNameBytes = 16u << 10;
constexpr size_t kChunkSymbols = 4096;
constexpr int kMaxParents = 4096;  // steps of one look-up
constexpr uint32_t kMaxAliases = 64;

// Offset of the first letter of a name that is no underscore.
size_t LeadingUnderscores(const std::string& name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

auto Preference(const std::string& name) {
  return std::tuple(LeadingUnderscores(name), name.size(), name);
}

}  // namespace

struct SymbolIndex::RawSymbol {
  uint32_t name;
  uint8_t info;
  uint16_t section;
  uint64_t value, bytes;

  static RawSymbol Decode(const uint8_t* raw, bool is_64) {
    using elf::Load16, elf::Load32, elf::Load64;
    if (is_64) {
      return {Load32(raw),
              raw[4],
              Load16(raw + 6),
              Load64(raw + 8),
              Load64(raw + 16)};
    }
    return {Load32(raw),
            raw[12],
            Load16(raw + 14),
            Load32(raw + 4),
            Load32(raw + 8)};
  }
  uint8_t type() const { return info & 15; }
  uint8_t bind() const { return info >> 4; }
};

void SymbolIndex::Add(std::shared_ptr<const ElfFile> file,
                      const ElfSection& table) {
  const bool is_64 = file->is_64();
  const size_t entry = is_64 ? elf::kSymbolBytes64 : elf::kSymbolBytes32;
  if (table.type == elf::kSectionNoBits || table.entry_bytes != entry ||
      table.link >= file->sections().size() || tables_.size() == kMaxTables) {
    return;
  }
  tables_.push_back({file, file->sections()[table.link]});
  const uint64_t count = std::min(table.bytes / entry, kMaxSymbols);
  std::vector<uint8_t> raw(kChunkSymbols * entry);
  for (uint64_t first = 0; first < count; first += kChunkSymbols) {
    const auto symbols =
        static_cast<size_t>(std::min<uint64_t>(kChunkSymbols, count - first));
    if (!file->source().Read(
            table.offset + first * entry, raw.data(), symbols * entry)) {
      return;
    }
    for (size_t i = 0; i < symbols; ++i) {
      if (!Keep(*file, RawSymbol::Decode(&raw[i * entry], is_64))) {
        return;
      }
    }
  }
}

// Returns false when no more may be kept.
bool SymbolIndex::Keep(const ElfFile& file, const RawSymbol& symbol) {
  const uint8_t type = symbol.type();
  const bool is_function =
      type == elf::kTypeFunction || type == elf::kTypeIndirect;
  if ((!is_function && type != elf::kTypeNone) || symbol.name == 0 ||
      symbol.section == elf::kIndexUndefined) {
    return true;
  }
  uint64_t address = symbol.value;
  if (file.machine() == elf::kMachineArm && is_function) {
    address &= ~uint64_t{1};  // the Thumb bit
  }
  const ElfSection* section = nullptr;
  if (symbol.section == elf::kIndexExtended) {
    section = file.CodeSectionAt(address);
  } else if (symbol.section < elf::kIndexReserved &&
             symbol.section < file.sections().size()) {
    section = &file.sections()[symbol.section];
  }
  if (section == nullptr || !section->IsCode() || !section->Holds(address)) {
    return true;
  }
  const uint64_t room = section->end() - address;
  const bool has_size = symbol.bytes != 0;
  const uint64_t bytes =
      std::min({has_size ? symbol.bytes : room, room, uint64_t{UINT32_MAX}});
  const int bind = symbol.bind() == elf::kBindWeak    ? 2
                   : symbol.bind() == elf::kBindLocal ? 1
                                                      : 0;
  const int rank = bind + (is_function ? 0 : 4) + (has_size ? 0 : 8);
  entries_.push_back({address,
                      static_cast<uint32_t>(bytes),
                      symbol.name,
                      kNone,
                      static_cast<uint8_t>(tables_.size() - 1),
                      static_cast<uint8_t>(rank),
                      has_size});
  return entries_.size() < kMaxFunctions;
}

void SymbolIndex::Finish() {
  std::sort(
      entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.address, a.rank, a.table, b.bytes, a.name) <
               std::tie(b.address, b.rank, b.table, a.bytes, b.name);
      });
  DropLabelsAndCopies();
  GiveSizes();
  LinkParents();
  entries_.shrink_to_fit();
}

// Drops symbols without size that lie inside one with a size or beside one at
// the same address, mapping symbols, and what an earlier table has already.
void SymbolIndex::DropLabelsAndCopies() {
  uint64_t covered = 0;  // end of what sized symbols before this one cover
  size_t kept = 0;
  for (const Entry& entry : entries_) {
    bool drop = !entry.has_size && entry.address < covered;
    for (size_t i = kept; !drop && i-- > 0 && kept - i <= kMaxAliases &&
                          entries_[i].address == entry.address;) {
      drop = entries_[i].table < entry.table;
    }
    if (!drop && !entry.has_size) {
      const std::string name = NameOf(entry);
      drop = name.empty() || name[0] == '$' || name.starts_with(".L");
    }
    if (drop) {
      continue;
    }
    if (entry.has_size) {
      covered = std::max(covered, entry.address + entry.bytes);
    }
    entries_[kept++] = entry;
  }
  entries_.resize(kept);
}

// A symbol without size ends at the next one. Its `bytes` is, until now, the
// way to the section's end.
void SymbolIndex::GiveSizes() {
  uint64_t next = UINT64_MAX;
  for (size_t i = entries_.size(); i-- > 0;) {
    Entry& entry = entries_[i];
    if (i + 1 < entries_.size() && entries_[i + 1].address != entry.address) {
      next = entries_[i + 1].address;
    }
    if (!entry.has_size) {
      entry.bytes = static_cast<uint32_t>(
          std::min<uint64_t>(entry.bytes, next - entry.address));
    }
  }
}

void SymbolIndex::LinkParents() {
  std::vector<uint32_t> open;  // entries that reach over the current start
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    while (!open.empty() && !Covers(open.back(), entries_[i].address)) {
      open.pop_back();
    }
    entries_[i].parent = open.empty() ? kNone : open.back();
    open.push_back(i);
  }
}

bool SymbolIndex::Covers(uint32_t index, uint64_t address) const {
  const Entry& entry = entries_[index];
  return address - entry.address < entry.bytes && address >= entry.address;
}

std::optional<SymbolIndex::Function> SymbolIndex::Find(uint64_t address) const {
  auto after = std::upper_bound(
      entries_.begin(),
      entries_.end(),
      address,
      [](uint64_t at, const Entry& entry) { return at < entry.address; });
  if (after == entries_.begin()) {
    return std::nullopt;
  }
  auto index = static_cast<uint32_t>(after - entries_.begin() - 1);
  for (int steps = 0; index != kNone && steps < kMaxParents; ++steps) {
    if (Covers(index, address)) {
      return BestOf(index, address);
    }
    index = entries_[index].parent;
  }
  return std::nullopt;
}

// `last` is the last of the entries at its address that covers `address`.
SymbolIndex::Function SymbolIndex::BestOf(uint32_t last,
                                          uint64_t address) const {
  const uint64_t start = entries_[last].address;
  uint8_t rank = entries_[last].rank;
  std::string best = NameOf(entries_[last]);
  for (uint32_t i = last, looks = 0;
       i-- > 0 && entries_[i].address == start && looks < kMaxAliases;
       ++looks) {
    const Entry& entry = entries_[i];
    if (!Covers(i, address) || entry.rank > rank) {
      continue;
    }
    std::string name = NameOf(entry);
    if (best.empty() ||
        (!name.empty() &&
         (entry.rank < rank || Preference(name) < Preference(best)))) {
      best = std::move(name);
      rank = entry.rank;
    }
  }
  return {start, std::move(best)};
}

std::string SymbolIndex::NameOf(const Entry& entry) const {
  const Table& table = tables_[entry.table];
  bool cut = false;
  std::string name =
      table.file->StringAt(table.strings, entry.name, kMaxNameBytes, &cut)
          .value_or("");
  // "memcpy@@GLIBC_2.14": the version is no part of the name.
  const size_t version = name.find('@');
  if (version != std::string::npos && version != 0) {
    name.resize(version);
  }
  return cut ? name + "…" : name;
}

}  // namespace cairn::symbolicate
