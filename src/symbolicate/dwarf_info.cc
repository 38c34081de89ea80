// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dwarf_info.h"

#include <algorithm>

#include "symbolicate/dwarf_constants.h"

namespace cairn::symbolicate {
namespace {

using namespace dwarf;  // NOLINT: the names of one specification

constexpr size_t kMaxUnits = 4u << 20;
constexpr size_t kHeaderBytes = 64;
constexpr size_t kRootBytes = 512, kMaxRootBytes = 64u << 10;

std::shared_ptr<const ByteSource> Named(const DebugSections& sections,
                                        const char* name,
                                        bool is_split) {
  return sections.Find(is_split ? std::string(name) + ".dwo" : name);
}

// The length of a unit at the cursor, and whether offsets have 8 bytes.
uint64_t InitialLength(DwarfCursor* in, bool* is_64) {
  const uint64_t length = in->U32();
  *is_64 = length == 0xffffffff;
  return *is_64 ? in->U64() : length;
}

}  // namespace

DwarfInfo::DwarfInfo(std::shared_ptr<const DebugSections> sections,
                     bool is_split)
    : sections_(std::move(sections)),
      code_(sections_.get()),
      info_(Named(*sections_, ".debug_info", is_split)),
      abbreviations_(Named(*sections_, ".debug_abbrev", is_split)),
      strings_(Named(*sections_, ".debug_str", is_split)),
      line_strings_(sections_->Find(".debug_line_str")),
      string_offsets_(Named(*sections_, ".debug_str_offsets", is_split)),
      addresses_(sections_->Find(".debug_addr")),
      ranges_(sections_->Find(".debug_ranges")),
      range_lists_(Named(*sections_, ".debug_rnglists", is_split)),
      lines_(sections_->Find(".debug_line")) {}

std::unique_ptr<DwarfUnit> DwarfInfo::ReadHeader(uint64_t offset,
                                                 uint64_t end) const {
  uint8_t raw[kHeaderBytes] = {};
  if (offset >= end) {
    return nullptr;
  }
  const auto bytes =
      static_cast<size_t>(std::min<uint64_t>(sizeof(raw), end - offset));
  if (!info_.ReadOnce(offset, raw, bytes)) {
    return nullptr;
  }
  DwarfCursor in(raw, bytes);
  auto unit = std::make_unique<DwarfUnit>();
  bool is_64 = false;
  const uint64_t length = InitialLength(&in, &is_64);
  const uint64_t start = offset + in.offset();
  unit->offset = offset;
  unit->sizes.offset = is_64 ? 8 : 4;
  unit->sizes.version = in.U16();
  if (unit->sizes.version >= 5) {
    unit->type = in.U8();
    unit->sizes.address = in.U8();
    unit->abbreviations_offset = in.Unsigned(unit->sizes.offset);
  } else {
    unit->type = kUnitCompile;
    unit->abbreviations_offset = in.Unsigned(unit->sizes.offset);
    unit->sizes.address = in.U8();
  }
  if (unit->type == kUnitSkeleton || unit->type == kUnitSplitCompile) {
    unit->dwo_id = in.U64();
    unit->has_dwo_id = true;
  } else if (unit->type == kUnitType || unit->type == kUnitSplitType) {
    in.U64();
    in.Unsigned(unit->sizes.offset);
  }
  const bool is_sane = in.ok() && unit->sizes.version >= 2 &&
                       unit->sizes.version <= 5 &&
                       (unit->sizes.address == 4 || unit->sizes.address == 8) &&
                       length != 0 && length <= end - start;
  if (!is_sane) {
    return nullptr;
  }
  unit->first_die = offset + in.offset();
  unit->end = start + length;
  return unit;
}

const DwarfUnit* DwarfInfo::UnitAt(uint64_t offset) {
  auto found = units_.find(offset);
  if (found != units_.end()) {
    return found->second.get();
  }
  auto unit = ReadHeader(offset, info_.size());
  if (unit) {
    unit->info = this;
    ReadRoot(unit.get());
  }
  return (units_[offset] = std::move(unit)).get();
}

const DwarfUnit* DwarfInfo::SplitUnit(const DwarfContribution& where,
                                      const DwarfUnit* skeleton) {
  auto found = units_.find(where.info);
  if (found != units_.end()) {
    return found->second.get();
  }
  const uint64_t room = info_.size() - std::min(info_.size(), where.info);
  auto unit = ReadHeader(
      where.info,
      where.info +
          (where.info_bytes != 0 ? std::min(room, where.info_bytes) : room));
  if (unit) {
    const bool is_5 = unit->sizes.version >= 5;
    const uint64_t wide = unit->sizes.offset == 8 ? 8 : 0;
    unit->info = this;
    unit->skeleton = skeleton;
    code_ = skeleton->info->code_;
    unit->abbreviations_offset += where.abbreviations;
    // The headers that the bases of version 5 lie behind.
    unit->strings_base = where.string_offsets + (is_5 ? 8 + wide : 0);
    unit->range_lists_base = where.range_lists + (is_5 ? 12 + wide : 0);
    unit->low_address = skeleton->low_address;
    ReadRoot(unit.get());
  }
  return (units_[where.info] = std::move(unit)).get();
}

const std::vector<uint64_t>& DwarfInfo::UnitOffsets() {
  uint64_t at = 0;
  while (!has_offsets_ && offsets_.size() < kMaxUnits) {
    uint8_t raw[12] = {};
    const auto bytes =
        static_cast<size_t>(std::min<uint64_t>(sizeof(raw), info_.size() - at));
    DwarfCursor in(raw, bytes);
    if (bytes < 4 || !info_.ReadOnce(at, raw, bytes)) {
      break;
    }
    bool is_64 = false;
    const uint64_t length = InitialLength(&in, &is_64);
    const uint64_t start = at + in.offset();
    if (!in.ok() || length == 0 || length > info_.size() - start) {
      break;
    }
    offsets_.push_back(at);
    at = start + length;
  }
  has_offsets_ = true;
  return offsets_;
}

const DwarfUnit* DwarfInfo::UnitHolding(uint64_t offset) {
  const auto& all = UnitOffsets();
  auto after = std::upper_bound(all.begin(), all.end(), offset);
  return after == all.begin() ? nullptr : UnitAt(*(after - 1));
}

// Units of link-time optimisation share one table.
std::shared_ptr<const DwarfAbbreviations> DwarfInfo::AbbreviationsAt(
    uint64_t offset,
    const DwarfSizes& sizes) {
  const uint64_t shape = uint64_t{sizes.version} << 16 |
                         uint64_t{sizes.address} << 8 | sizes.offset;
  auto& table = tables_[{offset, shape}];
  if (!table) {
    table = std::make_shared<DwarfAbbreviations>(abbreviations_, offset, sizes);
  }
  return table;
}

namespace {

void TakeRootValue(uint16_t attribute,
                   const DwarfValue& value,
                   DwarfUnit* unit,
                   DwarfValue* directory,
                   DwarfValue* dwo_name) {
  switch (attribute) {
    case kAtLowPc:
      unit->low_pc = value;
      return;
    case kAtHighPc:
      unit->high_pc = value;
      return;
    case kAtRanges:
      unit->ranges = value;
      return;
    case kAtStatementList:
      unit->line_offset = value.number;
      return;
    case kAtCompilationDirectory:
      *directory = value;
      return;
    case kAtDwoName:
    case kAtGnuDwoName:
      *dwo_name = value;
      return;
    case kAtGnuDwoId:
      unit->dwo_id = value.number;
      unit->has_dwo_id = true;
      return;
    case kAtStringOffsetsBase:
      unit->strings_base = value.number;
      return;
    case kAtAddressBase:
    case kAtGnuAddressBase:
      unit->addresses_base = value.number;
      return;
    case kAtRangeListsBase:
      unit->range_lists_base = value.number;
      return;
    case kAtGnuRangesBase:
      unit->gnu_ranges_base = value.number;
      return;
    default:
      return;
  }
}

}  // namespace

void DwarfInfo::ReadRoot(DwarfUnit* unit) {
  unit->abbreviations =
      AbbreviationsAt(unit->abbreviations_offset, unit->sizes);
  for (size_t bytes = kRootBytes; bytes <= kMaxRootBytes; bytes *= 8) {
    const auto raw =
        info_.Part(unit->first_die,
                   std::min<uint64_t>(bytes, unit->end - unit->first_die));
    DwarfCursor in(raw.data(), raw.size());
    const DwarfAbbreviation* abbreviation =
        unit->abbreviations->Find(in.Uleb());
    if (abbreviation == nullptr) {
      return;
    }
    unit->tag = abbreviation->tag;
    DwarfValue directory, dwo_name;
    const DwarfAttributeSpec* specs = unit->abbreviations->specs(*abbreviation);
    for (uint32_t i = 0; i < abbreviation->count; ++i) {
      const DwarfValue value = ReadForm(specs[i], unit->sizes, &in);
      if (!in.ok()) {
        break;
      }
      TakeRootValue(specs[i].attribute, value, unit, &directory, &dwo_name);
    }
    if (in.ok() || raw.size() < bytes) {
      unit->directory = Text(*unit, directory);
      unit->dwo_name = Text(*unit, dwo_name);
      unit->low_pc.text = unit->high_pc.text = unit->ranges.text = {};
      if (unit->low_pc) {
        unit->low_address = Address(*unit, unit->low_pc).value_or(0);
      }
      return;
    }
  }
}

std::optional<uint64_t> DwarfInfo::AddressAt(const DwarfUnit& unit,
                                             uint64_t index) const {
  if (unit.skeleton != nullptr) {
    return unit.skeleton->info->AddressAt(*unit.skeleton, index);
  }
  const auto bytes = unit.sizes.address;
  if (index > addresses_.size()) {
    return std::nullopt;
  }
  return addresses_.Unsigned(unit.addresses_base + index * bytes, bytes);
}

std::optional<uint64_t> DwarfInfo::Address(const DwarfUnit& unit,
                                           const DwarfValue& value) const {
  switch (value.form) {
    case kFormAddress:
      return value.number;
    case kFormAddressIndex:
    case kFormAddressIndex1:
    case kFormAddressIndex2:
    case kFormAddressIndex3:
    case kFormAddressIndex4:
    case kFormGnuAddressIndex:
      return AddressAt(unit, value.number);
    default:
      return std::nullopt;
  }
}

std::string DwarfInfo::Text(const DwarfUnit& unit,
                            const DwarfValue& value) const {
  switch (value.form) {
    case kFormString:
      return std::string(value.text);
    case kFormStringPointer:
      return strings_.Text(value.number);
    case kFormLineString:
      return line_strings_.Text(value.number);
    case kFormStringIndex:
    case kFormStringIndex1:
    case kFormStringIndex2:
    case kFormStringIndex3:
    case kFormStringIndex4:
    case kFormGnuStringIndex: {
      const auto bytes = unit.sizes.offset;
      const auto offset =
          value.number > string_offsets_.size()
              ? std::nullopt
              : string_offsets_.Unsigned(
                    unit.strings_base + value.number * bytes, bytes);
      return offset ? strings_.Text(*offset) : "";
    }
    case kFormStringSupplement:
    case kFormGnuStringAlternate:
      return alternate_ != nullptr ? alternate_->strings_.Text(value.number)
                                   : "";
    default:
      return "";
  }
}

}  // namespace cairn::symbolicate
