// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/macho_symbols.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "format/macho_format.h"
#include "symbolicate/macho_linkedit.h"

namespace cairn::symbolicate {
namespace {

namespace macho = format::macho;

constexpr uint64_t kMaxSymbols = 16u << 20;  // looked at
constexpr size_t kMaxFunctions = 4u << 20;   // kept
constexpr size_t kMaxLinkeditBytes = 256u << 20;
constexpr size_t kMaxNameBytes = 16u << 10;
constexpr size_t kChunkSymbols = 4096;
constexpr size_t kMaxAliases = 64;

uint64_t CodeMask(const MachOFile& file) {
  return file.cpu_type() == macho::kCpuArm ? ~uint64_t{1} : ~uint64_t{0};
}

// Lower is better.
uint8_t RankOf(uint8_t type, uint16_t description) {
  const bool external = (type & macho::kSymbolExternal) != 0;
  const bool is_private = (type & macho::kSymbolPrivateExternal) != 0;
  return (description & macho::kSymbolWeak) != 0 ? 3
         : external && !is_private               ? 0
         : is_private                            ? 1
                                                 : 2;
}

auto Preference(const std::string& name) {
  return std::tuple(
      std::min(name.find_first_not_of('_'), name.size()), name.size(), name);
}

std::string WithoutUnderscore(std::string name) {
  if (name.starts_with('_')) {
    name.erase(0, 1);
  }
  return name;
}

}  // namespace

MachOSymbols::MachOSymbols(std::shared_ptr<const MachOFile> layout,
                           std::shared_ptr<const MachOFile> table)
    : layout_(std::move(layout)), table_(std::move(table)) {
  starts_ = DecodeFunctionStarts(
      layout_->Contents(layout_->function_starts(), kMaxLinkeditBytes),
      layout_->base_address());
  for (uint64_t& start : starts_) {
    start &= CodeMask(*layout_);
  }
  AddTable();
  AddExports();
  Finish();
}

void MachOSymbols::AddTable() {
  const MachOSymbolTable& symbols = table_->symbols();
  const size_t entry =
      table_->is_64() ? sizeof(macho::Nlist64) : sizeof(macho::Nlist32);
  const uint64_t count = std::min(symbols.count, kMaxSymbols);
  std::vector<uint8_t> raw(kChunkSymbols * entry);
  for (uint64_t first = 0; first < count; first += kChunkSymbols) {
    const auto here =
        static_cast<size_t>(std::min<uint64_t>(kChunkSymbols, count - first));
    if (!table_->source().Read(
            symbols.offset + first * entry, raw.data(), here * entry)) {
      return;
    }
    table_->is_64() ? AddChunk<macho::Nlist64>(raw, here)
                    : AddChunk<macho::Nlist32>(raw, here);
  }
}

template <typename Nlist>
void MachOSymbols::AddChunk(const std::vector<uint8_t>& raw, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Nlist symbol;
    std::memcpy(&symbol, &raw[i * sizeof(symbol)], sizeof(symbol));
    const uint64_t address = symbol.n_value & CodeMask(*table_);
    if ((symbol.n_type & macho::kSymbolDebugMask) != 0 ||
        (symbol.n_type & macho::kSymbolTypeMask) != macho::kSymbolInSection ||
        symbol.n_sect == 0 || symbol.n_sect > table_->sections().size() ||
        symbol.n_strx == 0 ||
        symbol.n_strx >= table_->symbols().strings.bytes) {
      continue;
    }
    const MachOSection& section = table_->sections()[symbol.n_sect - 1];
    if (section.IsCode() && section.Holds(address)) {
      Keep(section,
           {address,
            0,
            symbol.n_strx,
            RankOf(symbol.n_type, symbol.n_desc),
            false,
            (symbol.n_desc & macho::kSymbolThumb) != 0});
    }
  }
}

// Exports are in the symbol table too, unless somebody stripped it.
void MachOSymbols::AddExports() {
  std::vector<uint64_t> known;
  for (const Entry& entry : entries_) {
    known.push_back(entry.address);
  }
  std::sort(known.begin(), known.end());
  auto exports =
      DecodeExports(layout_->Contents(layout_->exports(), kMaxLinkeditBytes));
  for (MachOExport& found : exports) {
    const uint64_t raw = layout_->base_address() + found.offset;
    const uint64_t address = raw & CodeMask(*layout_);
    const MachOSection* section = layout_->SectionAt(address);
    if (section != nullptr && section->IsCode() && !found.name.empty() &&
        !std::binary_search(known.begin(), known.end(), address)) {
      exports_.push_back(std::move(found.name));
      Keep(*section,
           {address,
            0,
            static_cast<uint32_t>(exports_.size() - 1),
            found.weak ? uint8_t{3} : uint8_t{0},
            true,
            raw != address});
    }
  }
}

// `bytes` is, until Finish, the way to the section's end.
void MachOSymbols::Keep(const MachOSection& section, const Entry& entry) {
  if (entries_.size() < kMaxFunctions) {
    entries_.push_back(entry);
    entries_.back().bytes = static_cast<uint32_t>(
        std::min<uint64_t>(section.end() - entry.address, UINT32_MAX));
  }
}

void MachOSymbols::Finish() {
  std::sort(
      entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.address, a.rank, a.exported, a.name) <
               std::tie(b.address, b.rank, b.exported, b.name);
      });
  uint64_t end = 0;
  for (size_t i = entries_.size(); i-- > 0;) {
    const bool last_here = i + 1 == entries_.size() ||
                           entries_[i + 1].address != entries_[i].address;
    end = last_here ? EndOf(i) : end;
    entries_[i].bytes = static_cast<uint32_t>(
        std::min<uint64_t>(end - entries_[i].address, entries_[i].bytes));
  }
  entries_.shrink_to_fit();
}

// `index` is the last entry at its address.
uint64_t MachOSymbols::EndOf(size_t index) const {
  const uint64_t address = entries_[index].address;
  uint64_t end = address + entries_[index].bytes;
  if (index + 1 < entries_.size()) {
    end = std::min(end, entries_[index + 1].address);
  }
  const auto start = std::upper_bound(starts_.begin(), starts_.end(), address);
  return start == starts_.end() ? end : std::min(end, *start);
}

std::optional<MachOSymbols::Function> MachOSymbols::Find(
    uint64_t address) const {
  address &= CodeMask(*layout_);
  const auto after = std::upper_bound(
      entries_.begin(),
      entries_.end(),
      address,
      [](uint64_t at, const Entry& entry) { return at < entry.address; });
  if (after == entries_.begin() ||
      address - (after - 1)->address >= (after - 1)->bytes) {
    return std::nullopt;
  }
  const uint64_t start = (after - 1)->address;
  // The first ones at an address have the best rank.
  const auto first = std::lower_bound(
      entries_.begin(), after, start, [](const Entry& entry, uint64_t at) {
        return entry.address < at;
      });
  std::string best = NameOf(*first);
  size_t looks = 0;
  for (auto entry = first + 1;
       entry != after && entry->rank == first->rank && ++looks < kMaxAliases;
       ++entry) {
    std::string name = NameOf(*entry);
    if (!name.empty() &&
        (best.empty() || Preference(name) < Preference(best))) {
      best = std::move(name);
    }
  }
  return Function{start, std::move(best), first->thumb};
}

std::string MachOSymbols::NameOf(const Entry& entry) const {
  if (entry.exported) {
    return WithoutUnderscore(exports_[entry.name]);
  }
  const MachOPart& strings = table_->symbols().strings;
  // Long names are rare: read a little first.
  for (size_t limit : {size_t{256}, kMaxNameBytes}) {
    const uint64_t at = strings.offset + entry.name;
    const uint64_t end =
        std::min(strings.offset + strings.bytes, table_->source().size());
    if (at >= end) {
      return "";
    }
    std::string text(static_cast<size_t>(std::min<uint64_t>(limit, end - at)),
                     '\0');
    if (!table_->source().Read(at, text.data(), text.size())) {
      return "";
    }
    const size_t length = strnlen(text.data(), text.size());
    if (length < text.size() || limit == kMaxNameBytes) {
      const bool cut = length == kMaxNameBytes;
      text.resize(length);
      return WithoutUnderscore(cut ? text + "…" : std::move(text));
    }
  }
  return "";
}

}  // namespace cairn::symbolicate
