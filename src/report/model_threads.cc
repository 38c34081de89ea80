// SPDX-License-Identifier: Apache-2.0
//
// What the fields of threads and of symbol sections mean.
#include <algorithm>

#include "report/model_builder.h"
#include "report/model_grow.h"
#include "report/varint_reader.h"

namespace cairn::report {

using format::Field;

void ModelBuilder::PutThread(const Value& value) {
  Thread& thread = report_->threads.back();
  switch (value.field) {
    case Field::kThreadId:
      thread.id = value.number;
      break;
    case Field::kThreadName:
      thread.name = Text(value);
      break;
    case Field::kThreadCrashed:
      thread.crashed = value.number != 0;
      break;
    case Field::kThreadState:
      // A letter; anything else stays unknown.
      thread.state = value.number > ' ' && value.number < 0x7f
                         ? static_cast<char>(value.number)
                         : '\0';
      break;
    case Field::kThreadFrozenBy:
      thread.frozen_by =
          static_cast<format::FrozenBy>(std::min<uint64_t>(value.number, 255));
      break;
    case Field::kThreadCpuTimeMs:
      thread.cpu_time_ms = value.number;
      break;
    case Field::kThreadRegisters:
      if (!registers_.Next(value.data, value.bytes, &thread.registers)) {
        problems_->Add(value.offset, "a thread's registers are cut");
      }
      Charge(thread.registers.size() * sizeof(thread.registers[0]),
             value.offset);
      break;
    case Field::kThreadFrames:
      PutFrames(value);
      break;
    case Field::kThreadWalkEnd:
      thread.end =
          static_cast<format::WalkEnd>(std::min<uint64_t>(value.number, 255));
      break;
    case Field::kThreadFramesDropped:
      PutGap(value);
      break;
    case Field::kThreadStackLow:
      thread.stack_low = value.number;
      break;
    case Field::kThreadStackHigh:
      thread.stack_high = value.number;
      break;
    default:
      break;
  }
}

void ModelBuilder::PutFrames(const Value& value) {
  uint32_t leaf = 0;
  switch (trie_.AddStack(value.data, value.bytes, &leaf)) {
    case FrameTrie::Add::kWhole:
      break;
    case FrameTrie::Add::kCut:
      problems_->Add(value.offset, "a thread's list of frames is cut");
      break;
    case FrameTrie::Add::kUnknownNode:
      problems_->Add(
          value.offset,
          "a thread's outer frames are missing: it shares frames that no "
          "earlier thread has");
      break;
    case FrameTrie::Add::kTooMany:
      problems_->Add(value.offset, "more frames than a report may have");
      break;
  }
  if (Grow(&stacks_, value.offset)) {
    stacks_.back() = {report_->threads.size() - 1, leaf, value.offset};
  }
}

void ModelBuilder::PutGap(const Value& value) {
  Thread& thread = report_->threads.back();
  VarintReader in(value.data, value.bytes);
  if (!in.Next(&thread.gap_position) || !in.Next(&thread.gap_frames)) {
    problems_->Add(value.offset,
                   "the place of a thread's dropped frames is cut");
  }
}

// The crashed thread is written in steps, each a group with its id: registers
// first, frames when they are known, then bytes of its stack.
void ModelBuilder::ContinueFirstThread() {
  std::vector<Thread>& threads = report_->threads;
  if (threads.size() < 2 || threads.back().id == 0 ||
      threads.back().id != threads.front().id) {
    return;
  }
  Thread more = std::move(threads.back());
  threads.pop_back();
  Thread& first = threads.front();
  for (auto stack = stacks_.rbegin();
       stack != stacks_.rend() && stack->thread == threads.size();
       ++stack) {
    stack->thread = 0;
  }
  if (first.registers.empty()) {
    first.registers = std::move(more.registers);
  }
  if (more.end) {
    first.end = more.end;
  }
  if (more.gap_frames != 0) {
    first.gap_position = more.gap_position;
    first.gap_frames = more.gap_frames;
  }
  if (more.stack_high) {
    first.stack_low = more.stack_low;
    first.stack_high = more.stack_high;
  }
  if (!more.stack.empty()) {
    first.stack_address = more.stack_address;
    first.stack = std::move(more.stack);
  }
}

void ModelBuilder::PutStack(const Value& value) {
  Thread& thread = report_->threads.back();
  if (value.field == Field::kThreadStackAddress) {
    thread.stack_address = value.number;
  } else if (value.field == Field::kThreadStackBytes) {
    thread.stack = Bytes(value);
  }
}

void ModelBuilder::PutSymbol(const Value& value) {
  if (value.field == Field::kSymbolNodes) {
    PutSymbolNodes(value);
  }
}

void ModelBuilder::PutSymbolNodes(const Value& value) {
  symbols_of_node_.resize(trie_.node_count() + size_t{1});
  VarintReader in(value.data, value.bytes);
  uint64_t node = 0;
  while (!in.AtEnd()) {
    if (!in.Next(&node) || node == 0 || node > trie_.node_count()) {
      problems_->Add(value.offset, "names for frames that are not there");
      return;
    }
    symbols_of_node_[node] = static_cast<uint32_t>(symbols_.size());
  }
}

void ModelBuilder::PutSymbolFrame(const Value& value) {
  SymbolFrame& symbol = symbols_.back().back();
  const uint32_t small =
      static_cast<uint32_t>(std::min<uint64_t>(value.number, ~0u));
  switch (value.field) {
    case Field::kSymbolFunction:
      symbol.function = Text(value);
      break;
    case Field::kSymbolFunctionMangled:
      symbol.function_mangled = Text(value);
      break;
    case Field::kSymbolOffset:
      symbol.offset = value.number;
      break;
    case Field::kSymbolNameSure:
      symbol.name_sure = value.number != 0;
      break;
    case Field::kSymbolFile:
      symbol.file = Text(value);
      break;
    case Field::kSymbolLine:
      symbol.line = small;
      break;
    case Field::kSymbolColumn:
      symbol.column = small;
      break;
    case Field::kSymbolInlined:
      symbol.inlined = value.number != 0;
      break;
    default:
      break;
  }
}

void ModelBuilder::PutSymbolsImage(const Value& value) {
  auto& [index, status] = report_->symbol_status.back();
  if (value.field == Field::kSymbolsImageIndex) {
    index = static_cast<uint32_t>(std::min<uint64_t>(value.number, ~0u));
  } else if (value.field == Field::kSymbolsImageStatus) {
    status = Text(value);
  }
}

}  // namespace cairn::report
