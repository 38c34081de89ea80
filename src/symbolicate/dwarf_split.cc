// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dwarf_split.h"

#include <algorithm>
#include <vector>

#include "symbolicate/dwarf_constants.h"
#include "symbolicate/dwarf_cursor.h"

namespace cairn::symbolicate {
namespace {

constexpr uint64_t kMaxIndexBytes = 256u << 20;
constexpr uint32_t kMaxColumns = 16;

void TakeOffset(uint32_t section,
                bool is_5,
                uint32_t offset,
                DwarfContribution* to) {
  if (section == dwarf::kIndexInfo) {
    to->info = offset;
  } else if (section == dwarf::kIndexAbbreviations) {
    to->abbreviations = offset;
  } else if (section == dwarf::kIndexStringOffsets) {
    to->string_offsets = offset;
  } else if (is_5 && section == dwarf::kIndexRangeLists) {
    to->range_lists = offset;
  }
}

}  // namespace

// Header, `slots` ids, `slots` row numbers, a row of section ids, `units` rows
// of offsets, `units` rows of sizes.
void SplitUnits::ReadPackageIndex(const ByteSource& source) {
  const auto bytes = DwarfSection(std::shared_ptr<const ByteSource>(
                                      &source, [](const ByteSource*) {}))
                         .Part(0, kMaxIndexBytes);
  DwarfCursor in(bytes.data(), bytes.size());
  const bool is_5 = in.U16() == 5;
  in.U16();
  const uint64_t columns = in.U32();
  const uint64_t units = in.U32();
  const uint64_t slots = in.U32();
  const uint64_t ids = in.offset();
  const uint64_t rows = ids + slots * 8;
  const uint64_t table = rows + slots * 4;
  if (!in.ok() || columns == 0 || columns > kMaxColumns ||
      table + (2 * units + 1) * columns * 4 > bytes.size()) {
    return;
  }
  const auto word = [&](uint64_t at) {
    return elf::Load32(bytes.data() + static_cast<size_t>(at));
  };
  for (uint64_t slot = 0; slot < slots; ++slot) {
    const uint64_t row = word(rows + slot * 4);
    if (row == 0 || row > units) {
      continue;
    }
    DwarfContribution where;
    for (uint64_t column = 0; column < columns; ++column) {
      const uint32_t section = word(table + column * 4);
      TakeOffset(
          section, is_5, word(table + (row * columns + column) * 4), &where);
      if (section == dwarf::kIndexInfo) {
        where.info_bytes = word(table + ((units + row) * columns + column) * 4);
      }
    }
    const uint64_t id =
        elf::Load64(bytes.data() + static_cast<size_t>(ids + slot * 8));
    contributions_.emplace(id, where);
  }
}

void SplitUnits::OpenPackage() {
  is_opened_ = true;
  auto sections = files_.open_package ? files_.open_package() : nullptr;
  if (!sections) {
    return;
  }
  if (const auto index = sections->Find(".debug_cu_index")) {
    ReadPackageIndex(*index);
  }
  package_ = std::make_unique<DwarfInfo>(std::move(sections), true);
}

const DwarfUnit* SplitUnits::InPackage(const DwarfUnit& skeleton) {
  if (!is_opened_) {
    OpenPackage();
  }
  const auto where = contributions_.find(skeleton.dwo_id);
  return package_ && where != contributions_.end()
             ? package_->SplitUnit(where->second, &skeleton)
             : nullptr;
}

const DwarfUnit* SplitUnits::InObject(const DwarfUnit& skeleton) {
  if (!files_.open_object) {
    return nullptr;
  }
  const std::string path = skeleton.dwo_name.starts_with('/')
                               ? skeleton.dwo_name
                               : skeleton.directory + "/" + skeleton.dwo_name;
  auto& object = objects_[path];
  if (!object) {
    auto sections = files_.open_object(path);
    if (!sections) {
      return nullptr;
    }
    object = std::make_unique<DwarfInfo>(std::move(sections), true);
  }
  // Type units may stand before it.
  for (uint64_t offset : object->UnitOffsets()) {
    DwarfContribution where;
    where.info = offset;
    const DwarfUnit* unit = object->SplitUnit(where, &skeleton);
    if (unit != nullptr && unit->has_dwo_id &&
        unit->dwo_id == skeleton.dwo_id) {
      return unit;
    }
  }
  return nullptr;
}

const DwarfUnit* SplitUnits::Find(const DwarfUnit& skeleton) {
  auto [at, is_new] = found_.emplace(&skeleton, nullptr);
  if (is_new) {
    at->second = InPackage(skeleton);
    if (at->second == nullptr) {
      at->second = InObject(skeleton);
    }
  }
  return at->second;
}

}  // namespace cairn::symbolicate
