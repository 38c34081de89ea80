// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dwarf_abbreviations.h"

#include "symbolicate/dwarf_constants.h"
#include "symbolicate/dwarf_cursor.h"
#include "symbolicate/dwarf_form.h"

namespace cairn::symbolicate {
namespace {

constexpr size_t kMaxSpecs = 1u << 20;
constexpr size_t kFirstBytes = 8u << 10;
constexpr size_t kMostBytes = 16u << 20;

}  // namespace

DwarfAbbreviations::DwarfAbbreviations(const DwarfSection& section,
                                       uint64_t offset,
                                       const DwarfSizes& sizes) {
  // Its length is written nowhere: read more until it ends.
  for (size_t bytes = kFirstBytes; bytes <= kMostBytes; bytes *= 8) {
    const auto part = section.Part(offset, bytes);
    if (Parse(part, sizes) || part.size() < bytes) {
      return;
    }
  }
}

// False when the bytes end before the table does.
bool DwarfAbbreviations::Parse(const std::vector<uint8_t>& bytes,
                               const DwarfSizes& sizes) {
  table_.clear();
  sparse_.clear();
  specs_.clear();
  DwarfCursor in(bytes.data(), bytes.size());
  while (uint64_t code = in.Uleb()) {
    DwarfAbbreviation one;
    one.tag = static_cast<uint16_t>(in.Uleb());
    one.has_children = in.U8() != 0;
    one.first = static_cast<uint32_t>(specs_.size());
    while (in.ok()) {
      const uint64_t attribute = in.Uleb();
      const uint64_t form = in.Uleb();
      const bool is_constant = form == dwarf::kFormImplicitConstant;
      const int64_t constant = is_constant ? in.Sleb() : 0;
      if (attribute == 0 && form == 0) {
        break;
      }
      if (specs_.size() == kMaxSpecs) {
        return true;
      }
      const uint32_t size = FixedFormBytes(static_cast<uint16_t>(form), sizes);
      one.fixed_bytes = size == DwarfAbbreviation::kVariable ||
                                one.fixed_bytes == DwarfAbbreviation::kVariable
                            ? DwarfAbbreviation::kVariable
                            : one.fixed_bytes + size;
      one.has_code = one.has_code || attribute == dwarf::kAtLowPc ||
                     attribute == dwarf::kAtRanges;
      specs_.push_back({static_cast<uint16_t>(attribute),
                        static_cast<uint16_t>(form),
                        constant});
      ++one.count;
    }
    if (!in.ok()) {
      return false;
    }
    Put(code, one);
  }
  return in.ok();
}

// Codes count up from 1 in practice; any others go to a map.
void DwarfAbbreviations::Put(uint64_t code,
                             const DwarfAbbreviation& abbreviation) {
  if (table_.empty()) {
    table_.emplace_back();
  }
  if (code == table_.size()) {
    table_.push_back(abbreviation);
  } else if (code > table_.size()) {
    sparse_.emplace(code, abbreviation);
  }
}

const DwarfAbbreviation* DwarfAbbreviations::FindSparse(uint64_t code) const {
  const auto found = sparse_.find(code);
  return found == sparse_.end() ? nullptr : &found->second;
}

}  // namespace cairn::symbolicate
