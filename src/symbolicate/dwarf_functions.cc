// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dwarf_functions.h"

#include <algorithm>

#include "symbolicate/dwarf_constants.h"

namespace cairn::symbolicate {
namespace {

using namespace dwarf;  // NOLINT: the names of one specification

constexpr uint64_t kMaxUnitBytes = 1ull << 30;
constexpr size_t kMaxFunctions = 8u << 20;
constexpr size_t kMaxDepth = 4096;

struct CodeValues {
  DwarfValue low_pc, high_pc, ranges, call_file, call_line, call_column;
};

bool ReadCodeValues(const DwarfUnit& unit,
                    const DwarfAbbreviation& abbreviation,
                    DwarfCursor* in,
                    CodeValues* out) {
  const DwarfAttributeSpec* specs = unit.abbreviations->specs(abbreviation);
  for (uint32_t i = 0; i < abbreviation.count; ++i) {
    DwarfValue* value = nullptr;
    switch (specs[i].attribute) {
      case kAtLowPc:
        value = &out->low_pc;
        break;
      case kAtHighPc:
        value = &out->high_pc;
        break;
      case kAtRanges:
        value = &out->ranges;
        break;
      case kAtCallFile:
        value = &out->call_file;
        break;
      case kAtCallLine:
        value = &out->call_line;
        break;
      case kAtCallColumn:
        value = &out->call_column;
        break;
      default:
        SkipForm(specs[i].form, unit.sizes, in);
        continue;
    }
    *value = ReadForm(specs[i], unit.sizes, in);
  }
  return in->ok();
}

void SkipValues(const DwarfUnit& unit,
                const DwarfAbbreviation& abbreviation,
                DwarfCursor* in) {
  if (abbreviation.fixed_bytes != DwarfAbbreviation::kVariable) {
    in->Skip(abbreviation.fixed_bytes);
    return;
  }
  const DwarfAttributeSpec* specs = unit.abbreviations->specs(abbreviation);
  for (uint32_t i = 0; i < abbreviation.count; ++i) {
    SkipForm(specs[i].form, unit.sizes, in);
  }
}

}  // namespace

DwarfFunctions::DwarfFunctions(const DwarfUnit& unit) : unit_(unit) {
  Scan();
  index_.Finish();
  functions_.shrink_to_fit();
}

// Functions lie anywhere: in namespaces, classes, other functions.
void DwarfFunctions::Scan() {
  const auto bytes = unit_.info->info().Part(
      unit_.first_die, std::min(kMaxUnitBytes, unit_.end - unit_.first_die));
  DwarfCursor in(bytes.data(), bytes.size());
  struct Open {
    size_t depth, function;
  };
  std::vector<Open> open;
  size_t depth = 0;
  while (!in.at_end() && functions_.size() < kMaxFunctions) {
    const uint64_t die = unit_.first_die + in.offset();
    const uint64_t code = in.Uleb();
    if (code == 0) {
      depth -= depth != 0 ? 1 : 0;
      while (!open.empty() && open.back().depth >= depth) {
        functions_[open.back().function].end = unit_.first_die + in.offset();
        open.pop_back();
      }
      continue;
    }
    const DwarfAbbreviation* abbreviation = unit_.abbreviations->Find(code);
    if (abbreviation == nullptr) {
      break;
    }
    if (abbreviation->tag == kTagSubprogram && abbreviation->has_code) {
      CodeValues values;
      ReadCodeValues(unit_, *abbreviation, &in, &values);
      const size_t before = index_.size();
      unit_.info->Ranges(
          unit_,
          values.low_pc,
          values.high_pc,
          values.ranges,
          [this](uint64_t low, uint64_t high) {
            index_.Add(low, high, static_cast<uint32_t>(functions_.size()));
          });
      if (index_.size() != before) {
        if (abbreviation->has_children) {
          open.push_back({depth, functions_.size()});
        }
        functions_.push_back({die, unit_.first_die + in.offset()});
      }
    } else {
      SkipValues(unit_, *abbreviation, &in);
    }
    depth += abbreviation->has_children ? 1 : 0;
  }
  for (const Open& left : open) {
    functions_[left.function].end = unit_.first_die + in.offset();
  }
}

std::vector<DwarfCall> DwarfFunctions::Find(uint64_t address) const {
  std::vector<DwarfCall> chain;
  if (const RangeIndex::Range* range = index_.Find(address)) {
    const Function& function = functions_[range->value];
    chain.push_back({function.die, 0, 0, 0});
    WalkInlined(function, address, &chain);
  }
  return chain;
}

// Goes through every entry below the function: calls are nested in calls and
// in lexical blocks. The last one that holds the address, with all that it is
// nested in, is the answer.
void DwarfFunctions::WalkInlined(const Function& function,
                                 uint64_t address,
                                 std::vector<DwarfCall>* chain) const {
  const auto bytes =
      unit_.info->info().Part(function.die, function.end - function.die);
  DwarfCursor in(bytes.data(), bytes.size());
  std::vector<std::pair<size_t, DwarfCall>> around;  // by depth
  std::vector<DwarfCall> best;
  size_t depth = 0;
  size_t other_depth = SIZE_MAX;  // of a function nested in this one
  while (!in.at_end()) {
    const uint64_t die = function.die + in.offset();
    const uint64_t code = in.Uleb();
    if (code == 0) {
      if (depth-- <= 1) {
        break;
      }
      while (!around.empty() && around.back().first >= depth) {
        around.pop_back();
      }
      other_depth = other_depth != SIZE_MAX && other_depth >= depth
                        ? SIZE_MAX
                        : other_depth;
      continue;
    }
    const DwarfAbbreviation* abbreviation = unit_.abbreviations->Find(code);
    if (abbreviation == nullptr) {
      break;
    }
    const bool is_call =
        abbreviation->tag == kTagInlinedSubroutine && other_depth == SIZE_MAX;
    if (!is_call || !abbreviation->has_code) {
      SkipValues(unit_, *abbreviation, &in);
      if (abbreviation->tag == kTagSubprogram && depth != 0 &&
          abbreviation->has_children && other_depth == SIZE_MAX) {
        other_depth = depth;
      }
    } else {
      CodeValues values;
      if (!ReadCodeValues(unit_, *abbreviation, &in, &values)) {
        break;
      }
      const DwarfCall call{die,
                           values.call_file.number,
                           values.call_line.number,
                           values.call_column.number};
      bool holds = false;
      unit_.info->Ranges(unit_,
                         values.low_pc,
                         values.high_pc,
                         values.ranges,
                         [&](uint64_t low, uint64_t high) {
                           holds = holds || (address >= low && address < high);
                         });
      if (holds) {
        best.clear();
        for (const auto& [unused, outer] : around) {
          best.push_back(outer);
        }
        best.push_back(call);
      }
      if (abbreviation->has_children && around.size() < kMaxDepth) {
        around.emplace_back(depth, call);
      }
    }
    if (abbreviation->has_children) {
      ++depth;
    } else if (depth == 0) {
      break;
    }
  }
  chain->insert(chain->end(), best.begin(), best.end());
}

}  // namespace cairn::symbolicate
