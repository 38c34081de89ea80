// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dwarf_file.h"

#include <algorithm>
#include <utility>

#include "symbolicate/dwarf_constants.h"

namespace cairn::symbolicate {
namespace {

using namespace dwarf;  // NOLINT: the names of one specification

constexpr size_t kMaxNames = 64u << 10;
// A name may be told by an entry that another one specifies, whose origin is a
// third: real chains have 3 links, hostile ones are rings.
constexpr int kMaxLinks = 16;

struct Place {
  const DwarfUnit* unit = nullptr;
  uint64_t die = 0;
};

Place Follow(const DwarfUnit& unit, const DwarfValue& reference) {
  switch (reference.form) {
    case kFormReference1:
    case kFormReference2:
    case kFormReference4:
    case kFormReference8:
    case kFormReferenceUnsigned:
      return {&unit, unit.offset + reference.number};
    case kFormReferenceAddress:
      return {unit.info->UnitHolding(reference.number), reference.number};
    case kFormGnuReferenceAlternate:
    case kFormReferenceSupplement4:
    case kFormReferenceSupplement8: {
      DwarfInfo* other = unit.info->alternate();
      return {other != nullptr ? other->UnitHolding(reference.number) : nullptr,
              reference.number};
    }
    default:
      return {};
  }
}

std::string NameText(const DwarfUnit& unit, const DwarfValue& value) {
  return value.form == kFormString ? unit.info->info().Text(value.number)
                                   : unit.info->Text(unit, value);
}

}  // namespace

DwarfFile::DwarfFile(std::shared_ptr<const DebugSections> sections,
                     std::shared_ptr<const DebugSections> alternate,
                     SplitFiles split)
    : info_(std::move(sections), false),
      split_(std::move(split)),
      ranges_(&info_) {
  if (alternate) {
    alternate_ = std::make_unique<DwarfInfo>(std::move(alternate), false);
    info_.set_alternate(alternate_.get());
  }
}

DwarfFile::UnitTables& DwarfFile::TablesOf(const DwarfUnit& unit) {
  UnitTables& tables = tables_[&unit];
  if (!tables.functions) {
    tables.functions = std::make_unique<DwarfFunctions>(WholeUnit(unit));
    tables.lines = std::make_unique<DwarfLineTable>(unit);
  }
  return tables;
}

// The split unit that a skeleton stands for, when it is found.
const DwarfUnit& DwarfFile::WholeUnit(const DwarfUnit& unit) {
  if (unit.dwo_name.empty() || !unit.has_dwo_id) {
    return unit;
  }
  const DwarfUnit* whole = split_.Find(unit);
  return whole != nullptr ? *whole : unit;
}

// The linkage name wins wherever in the chain it stands.
std::string DwarfFile::ReadFunctionName(const DwarfUnit& unit, uint64_t die) {
  std::string plain;
  Place place{&unit, die};
  for (int links = 0; place.unit != nullptr && links < kMaxLinks; ++links) {
    const auto entry = place.unit->info->ReadDie(*place.unit, place.die);
    if (!entry) {
      break;
    }
    if (entry->linkage_name) {
      std::string name = NameText(*place.unit, entry->linkage_name);
      if (!name.empty()) {
        return name;
      }
    }
    if (entry->name && plain.empty()) {
      plain = NameText(*place.unit, entry->name);
    }
    place = Follow(*place.unit,
                   entry->specification ? entry->specification : entry->origin);
  }
  return plain;
}

const std::string& DwarfFile::FunctionName(const DwarfUnit& unit,
                                           uint64_t die) {
  if (names_.size() >= kMaxNames) {
    names_.clear();
  }
  const std::pair key(&unit, die);
  auto found = names_.find(key);
  if (found == names_.end()) {
    found = names_.emplace(key, ReadFunctionName(unit, die)).first;
  }
  return found->second;
}

std::vector<SourceFrame> DwarfFile::FindIn(const DwarfUnit& unit,
                                           uint64_t address) {
  const UnitTables& tables = TablesOf(unit);
  const DwarfUnit& whole = WholeUnit(unit);
  const auto row = tables.lines->Find(address);
  const auto calls = tables.functions->Find(address);
  std::vector<SourceFrame> frames;
  SourceFrame frame;
  if (row) {
    frame.file = tables.lines->File(row->file);
    frame.line = row->line;
    frame.column = row->column;
  }
  for (size_t i = calls.size(); i-- > 0;) {
    frame.function = FunctionName(whole, calls[i].die);
    frame.inlined = i != 0;
    frames.push_back(frame);
    frame.file = tables.lines->File(calls[i].file);
    frame.line = static_cast<uint32_t>(calls[i].line);
    frame.column = static_cast<uint32_t>(calls[i].column);
  }
  if (calls.empty() && row) {
    frames.push_back(frame);
  }
  return frames;
}

std::vector<SourceFrame> DwarfFile::Find(uint64_t address) {
  if (empty() || !info_.sections().IsCode(address)) {
    return {};
  }
  for (const DwarfUnit* unit : ranges_.Find(address)) {
    auto frames = FindIn(*unit, address);
    if (!frames.empty()) {
      return frames;
    }
  }
  return {};
}

}  // namespace cairn::symbolicate
