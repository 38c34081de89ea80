// SPDX-License-Identifier: Apache-2.0
//
// Entries and range lists of a DwarfInfo.
#include <algorithm>

#include "symbolicate/dwarf_constants.h"
#include "symbolicate/dwarf_info.h"

namespace cairn::symbolicate {
namespace {

using namespace dwarf;  // NOLINT: the names of one specification

constexpr size_t kDieBytes = 192, kMaxDieBytes = 128u << 10;
constexpr size_t kMaxRanges = 1u << 20;  // of one entry
constexpr size_t kRangeChunkBytes = 512;

bool IsAddressForm(uint16_t form) {
  return form == kFormAddress || form == kFormAddressIndex ||
         form == kFormGnuAddressIndex ||
         (form >= kFormAddressIndex1 && form <= kFormAddressIndex4);
}

void TakeDieValue(uint16_t attribute, const DwarfValue& value, DwarfDie* die) {
  switch (attribute) {
    case kAtName:
      die->name = value;
      return;
    case kAtLinkageName:
    case kAtMipsLinkageName:
      die->linkage_name = value;
      return;
    case kAtAbstractOrigin:
      die->origin = value;
      return;
    case kAtSpecification:
      die->specification = value;
      return;
    default:
      return;
  }
}

}  // namespace

// A name that stands in the entry itself (kFormString) points into a buffer
// that is gone on return; it is read again from where it stands.
std::optional<DwarfDie> DwarfInfo::ReadDie(const DwarfUnit& unit,
                                           uint64_t offset) const {
  if (offset < unit.first_die || offset >= unit.end) {
    return std::nullopt;
  }
  for (size_t bytes = kDieBytes; bytes <= kMaxDieBytes; bytes *= 8) {
    std::vector<uint8_t> raw(
        static_cast<size_t>(std::min<uint64_t>(bytes, unit.end - offset)));
    if (!info_.Read(offset, raw.data(), raw.size())) {
      return std::nullopt;
    }
    DwarfCursor in(raw.data(), raw.size());
    const DwarfAbbreviation* abbreviation = unit.abbreviations->Find(in.Uleb());
    if (abbreviation == nullptr) {
      return std::nullopt;
    }
    DwarfDie die;
    die.tag = abbreviation->tag;
    const DwarfAttributeSpec* specs = unit.abbreviations->specs(*abbreviation);
    for (uint32_t i = 0; i < abbreviation->count && in.ok(); ++i) {
      const size_t at = in.offset();
      DwarfValue value = ReadForm(specs[i], unit.sizes, &in);
      if (value.form == kFormString) {
        value.number = offset + at;
        value.text = {};
      }
      TakeDieValue(specs[i].attribute, value, &die);
    }
    if (in.ok()) {
      return die;
    }
  }
  return std::nullopt;
}

void DwarfInfo::Take(uint64_t low, uint64_t high, const TakeRange& take) const {
  if (low < high && code_->IsCode(low)) {
    take(low, high);
  }
}

void DwarfInfo::Ranges(const DwarfUnit& unit,
                       const DwarfValue& low_pc,
                       const DwarfValue& high_pc,
                       const DwarfValue& ranges,
                       const TakeRange& take) const {
  if (ranges) {
    if (unit.sizes.version <= 4) {
      const DwarfUnit& main = unit.skeleton != nullptr ? *unit.skeleton : unit;
      const uint64_t base =
          unit.skeleton != nullptr ? main.gnu_ranges_base : uint64_t{0};
      main.info->OldRangeList(unit, base + ranges.number, take);
      return;
    }
    uint64_t offset = ranges.number;
    if (ranges.form == kFormRangeListIndex) {
      const auto bytes = unit.sizes.offset;
      if (offset > range_lists_.size()) {
        return;
      }
      const auto entry =
          range_lists_.Unsigned(unit.range_lists_base + offset * bytes, bytes);
      if (!entry) {
        return;
      }
      offset = unit.range_lists_base + *entry;
    }
    RangeList(unit, offset, take);
    return;
  }
  const auto low = low_pc ? Address(unit, low_pc) : std::nullopt;
  if (!low || !high_pc) {
    return;
  }
  if (!IsAddressForm(high_pc.form)) {
    Take(*low, *low + high_pc.number, take);
  } else if (const auto high = Address(unit, high_pc)) {
    Take(*low, *high, take);
  }
}

// Version 4 and before: pairs of addresses relative to a base; (-1, base) sets
// it, (0, 0) ends.
void DwarfInfo::OldRangeList(const DwarfUnit& unit,
                             uint64_t offset,
                             const TakeRange& take) const {
  const int bytes = unit.sizes.address;
  const uint64_t highest = bytes == 4 ? UINT32_MAX : UINT64_MAX;
  uint64_t base = unit.low_address;
  for (size_t i = 0; i < kMaxRanges; ++i) {
    const auto low = ranges_.Unsigned(offset, bytes);
    const auto high = ranges_.Unsigned(offset + bytes, bytes);
    if (!low || !high || (*low == 0 && *high == 0)) {
      return;
    }
    offset += 2 * static_cast<uint64_t>(bytes);
    if (*low == highest) {
      base = *high;
    } else if (*low < highest - 1) {  // one less: what a linker dropped
      Take((base + *low) & highest, (base + *high) & highest, take);
    }
  }
}

std::optional<std::pair<uint64_t, uint64_t>> DwarfInfo::RangeEntry(
    const DwarfUnit& unit,
    uint8_t kind,
    DwarfCursor* in,
    uint64_t* base) const {
  const int bytes = unit.sizes.address;
  const auto at_index = [&](uint64_t index) {
    return AddressAt(unit, index).value_or(UINT64_MAX);
  };
  uint64_t low = 0, high = 0;
  switch (kind) {
    case kRangeBaseIndex:
      *base = at_index(in->Uleb());
      break;
    case kRangeBase:
      *base = in->Unsigned(bytes);
      break;
    case kRangeStartEndIndex:
      low = at_index(in->Uleb());
      high = at_index(in->Uleb());
      break;
    case kRangeStartLengthIndex:
      low = at_index(in->Uleb());
      high = low + in->Uleb();
      break;
    case kRangeOffsetPair:
      low = *base + in->Uleb();
      high = *base + in->Uleb();
      break;
    case kRangeStartEnd:
      low = in->Unsigned(bytes);
      high = in->Unsigned(bytes);
      break;
    case kRangeStartLength:
      low = in->Unsigned(bytes);
      high = low + in->Uleb();
      break;
    default:
      in->Fail();
      break;
  }
  return in->ok() ? std::optional(std::pair(low, high)) : std::nullopt;
}

void DwarfInfo::RangeList(const DwarfUnit& unit,
                          uint64_t offset,
                          const TakeRange& take) const {
  uint64_t base = unit.low_address;
  size_t entries = 0;
  while (offset < range_lists_.size() && entries < kMaxRanges) {
    uint8_t raw[kRangeChunkBytes];
    const auto bytes = static_cast<size_t>(
        std::min<uint64_t>(sizeof(raw), range_lists_.size() - offset));
    if (!range_lists_.Read(offset, raw, bytes)) {
      return;
    }
    DwarfCursor in(raw, bytes);
    size_t whole = 0;  // bytes of entries that were not cut by the chunk
    for (;; ++entries) {
      const uint8_t kind = in.U8();
      if (kind == kRangeEnd && in.ok()) {
        return;
      }
      const auto range = RangeEntry(unit, kind, &in, &base);
      if (!range) {
        break;
      }
      whole = in.offset();
      Take(range->first, range->second, take);
    }
    if (whole == 0) {
      return;
    }
    offset += whole;
  }
}

}  // namespace cairn::symbolicate
