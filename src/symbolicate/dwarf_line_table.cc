// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dwarf_line_table.h"

#include <algorithm>

#include "symbolicate/dwarf_constants.h"

namespace cairn::symbolicate {
namespace {

using namespace dwarf;  // NOLINT: the names of one specification

constexpr uint64_t kMaxProgramBytes = 1ull << 30;
constexpr size_t kRowsPerMark = 64;
constexpr size_t kMaxRows = 256u << 20;
constexpr size_t kChunkBytes = 1024;
constexpr int kMaxChunks = 1024;

}  // namespace

DwarfLineTable::DwarfLineTable(const DwarfUnit& unit) : unit_(unit) {
  if (unit.line_offset && ReadHeader(*unit.line_offset)) {
    Run();
  }
  index_.Finish();
  marks_.shrink_to_fit();
}

void DwarfLineTable::Advance(uint64_t operations, State* state) const {
  if (header_.operations <= 1) {
    state->address += header_.least_bytes * operations;
    return;
  }
  const uint64_t all = state->operation + operations;
  state->address += header_.least_bytes * (all / header_.operations);
  state->operation = static_cast<uint32_t>(all % header_.operations);
}

DwarfLineTable::Step DwarfLineTable::Special(uint8_t opcode,
                                             State* state) const {
  const int adjusted = opcode - header_.opcode_base;
  Advance(static_cast<uint64_t>(adjusted / header_.line_range), state);
  state->line +=
      static_cast<uint32_t>(header_.line_base + adjusted % header_.line_range);
  return Step::kRow;
}

DwarfLineTable::Step DwarfLineTable::Standard(uint8_t opcode,
                                              DwarfCursor* in,
                                              State* state) const {
  switch (opcode) {
    case kLineCopy:
      return Step::kRow;
    case kLineAdvancePc:
      Advance(in->Uleb(), state);
      return Step::kNone;
    case kLineAdvanceLine:
      state->line += static_cast<uint32_t>(in->Sleb());
      return Step::kNone;
    case kLineSetFile:
      state->file = static_cast<uint32_t>(in->Uleb());
      return Step::kNone;
    case kLineSetColumn:
      state->column = static_cast<uint32_t>(in->Uleb());
      return Step::kNone;
    case kLineConstAddPc:
      Advance(static_cast<uint64_t>((255 - header_.opcode_base) /
                                    header_.line_range),
              state);
      return Step::kNone;
    case kLineFixedAdvancePc:
      state->address += in->U16();
      state->operation = 0;
      return Step::kNone;
    default:
      break;
  }
  for (int i = 0; i < header_.operands[opcode]; ++i) {
    in->SkipLeb();
  }
  return Step::kNone;
}

DwarfLineTable::Step DwarfLineTable::Extended(DwarfCursor* in,
                                              State* state) const {
  const uint64_t bytes = in->Uleb();
  if (bytes == 0 || bytes > in->left()) {
    in->Fail();
    return Step::kStop;
  }
  const size_t end = in->offset() + static_cast<size_t>(bytes);
  Step step = Step::kNone;
  switch (in->U8()) {
    case kLineEndSequence:
      state->is_end = true;
      step = Step::kRow;
      break;
    case kLineSetAddress:
      state->address =
          in->Unsigned(static_cast<int>(std::min<uint64_t>(bytes - 1, 8)));
      state->operation = 0;
      break;
    default:
      break;
  }
  in->MoveTo(end);
  return step;
}

DwarfLineTable::Step DwarfLineTable::Next(DwarfCursor* in, State* state) const {
  const uint8_t opcode = in->U8();
  const Step step = !in->ok()                       ? Step::kStop
                    : opcode >= header_.opcode_base ? Special(opcode, state)
                    : opcode == kLineExtended       ? Extended(in, state)
                                              : Standard(opcode, in, state);
  return in->ok() ? step : Step::kStop;
}

void DwarfLineTable::Run() {
  const auto bytes = unit_.info->lines().Part(
      header_.program,
      std::min(kMaxProgramBytes, header_.end - header_.program));
  DwarfCursor in(bytes.data(), bytes.size());
  State state;
  size_t rows = 0;
  size_t first = 0;  // mark of the sequence
  for (size_t all = 0; !in.at_end() && all < kMaxRows;) {
    const Step step = Next(&in, &state);
    if (step == Step::kStop) {
      return;
    }
    if (step != Step::kRow) {
      continue;
    }
    ++all;
    if (state.is_end) {
      const uint64_t low = rows != 0 ? marks_[first].state.address : 0;
      if (rows != 0 && low < state.address &&
          unit_.info->sections().IsCode(low)) {
        index_.Add(
            low, state.address, static_cast<uint32_t>(sequences_.size()));
        sequences_.push_back({first, marks_.size() - first});
      } else {
        marks_.resize(first);
      }
      first = marks_.size();
      rows = 0;
      state = State();
    } else if (rows++ % kRowsPerMark == 0) {
      marks_.push_back({state, header_.program + in.offset()});
    }
  }
}

std::optional<DwarfRow> DwarfLineTable::Find(uint64_t address) const {
  const RangeIndex::Range* range = index_.Find(address);
  if (range == nullptr) {
    return std::nullopt;
  }
  const Sequence& sequence = sequences_[range->value];
  const auto begin = marks_.begin() + static_cast<ptrdiff_t>(sequence.first);
  const auto end = begin + static_cast<ptrdiff_t>(sequence.count);
  const auto after =
      std::upper_bound(begin, end, address, [](uint64_t at, const Mark& mark) {
        return at < mark.state.address;
      });
  Mark mark = after == begin ? *begin : *(after - 1);
  DwarfRow best = mark.state;
  for (int chunk = 0; chunk < kMaxChunks; ++chunk) {
    uint8_t raw[kChunkBytes];
    const auto bytes = static_cast<size_t>(
        std::min<uint64_t>(sizeof(raw), header_.end - mark.offset));
    if (!unit_.info->lines().Read(mark.offset, raw, bytes)) {
      return best;
    }
    DwarfCursor in(raw, bytes);
    size_t whole = 0;
    State state = mark.state;
    for (Step step; (step = Next(&in, &state)) != Step::kStop;) {
      whole = in.offset();
      mark.state = state;
      if (step == Step::kRow) {
        if (state.is_end || state.address > address) {
          return best;
        }
        best = state;
      }
    }
    if (whole == 0) {
      return best;
    }
    mark.offset += whole;
  }
  return best;
}

}  // namespace cairn::symbolicate
