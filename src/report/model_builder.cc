// SPDX-License-Identifier: Apache-2.0
#include "report/model_builder.h"

#include "report/model_grow.h"
#include "report/utf8.h"

namespace cairn::report {

using format::Field;

void ModelBuilder::Begin(Field group, size_t offset) {
  const bool inside = open_.empty() || open_.back();
  open_.push_back(inside && MakeEntry(group, offset));
}

bool ModelBuilder::MakeEntry(Field group, size_t offset) {
  Report& report = *report_;
  switch (group) {
    case Field::kImage:
      return Grow(&report.images, offset);
    case Field::kThread:
      return Grow(&report.threads, offset);
    case Field::kMemory:
      return Grow(&report.memory, offset);
    case Field::kKey:
      return Grow(&report.keys, offset);
    case Field::kBreadcrumb:
      return Grow(&report.breadcrumbs, offset);
    case Field::kCut:
      return Grow(&report.cuts, offset);
    case Field::kStage:
      return Grow(&report.stages, offset);
    case Field::kSignal:
      // A later group of the event adds to the signal.
      if (!report.signal) {
        report.signal.emplace();
      }
      return true;
    case Field::kMach:
      report.mach.emplace();
      return true;
    case Field::kException:
      report.exception.emplace();
      return true;
    case Field::kUnloadedImages:
      sound_unloaded_ = unloaded_.size();
      return true;
    case Field::kSymbols:
      report.has_symbols = true;
      return true;
    case Field::kSymbol:
      return Grow(&symbols_, offset);
    case Field::kSymbolFrame:
      return Grow(&symbols_.back(), offset);
    case Field::kSymbolsImage:
      return Grow(&report.symbol_status, offset);
    default:
      return true;
  }
}

void ModelBuilder::Put(const Value& value, Field parent) {
  if (!open_.empty() && !open_.back()) {
    return;
  }
  switch (parent) {
    case Field::kNone:
      if (value.field == Field::kImageUnloaded && Grow(&unloaded_, 0)) {
        unloaded_.back() = value.number;
      }
      return;
    case Field::kUnloadedImages:
      if (Grow(&unloaded_, 0)) {
        unloaded_.back() = value.number;
      }
      return;
    case Field::kApp:
      return PutApp(value);
    case Field::kHost:
      return PutHost(value);
    case Field::kProcess:
      return PutProcess(value);
    case Field::kEvent:
      return PutEvent(value);
    case Field::kSignal:
      return PutSignal(value);
    case Field::kMach:
      return PutMach(value);
    case Field::kException:
      return PutException(value);
    case Field::kImage:
      return PutImage(value);
    case Field::kThread:
      return PutThread(value);
    case Field::kThreadStack:
      return PutStack(value);
    case Field::kMemory:
      return PutMemory(value);
    case Field::kKey:
      return PutKey(value);
    case Field::kBreadcrumb:
      return PutBreadcrumb(value);
    case Field::kCut:
      return PutCut(value);
    case Field::kStage:
      return PutStage(value);
    case Field::kSymbol:
      return PutSymbol(value);
    case Field::kSymbolFrame:
      return PutSymbolFrame(value);
    case Field::kSymbolsImage:
      return PutSymbolsImage(value);
    default:
      return;
  }
}

void ModelBuilder::End(Field group, bool sound, size_t offset) {
  const bool kept = open_.back();
  open_.pop_back();
  if (group == Field::kUnloadedImages && kept && !sound) {
    unloaded_.resize(sound_unloaded_);  // another image might be told
  }
  if (group == Field::kThread && kept) {
    ContinueFirstThread();
  }
  if (group == Field::kThread && !sound && !trie_broken_) {
    trie_broken_ = true;
    problems_->Add(
        offset,
        "stacks and registers of the threads behind the damaged one build "
        "on it and may be wrong");
  }
}

void ModelBuilder::Finish() {
  if (event_pid_) {
    report_->process.pid = event_pid_;
  }
  MarkUnloaded();
  ExpandStacks();
  NameFrames();
  CrashedFirst();
}

std::string ModelBuilder::Text(const Value& value) {
  std::string text =
      MendUtf8({reinterpret_cast<const char*>(value.data), value.bytes});
  return Charge(text.size(), value.offset) ? text : std::string();
}

std::vector<uint8_t> ModelBuilder::Bytes(const Value& value) {
  if (!Charge(value.bytes, value.offset)) {
    return {};
  }
  return {value.data, value.data + value.bytes};
}

bool ModelBuilder::Charge(size_t bytes, size_t offset) {
  if (bytes <= kMaxModelBytes - charged_) {
    charged_ += bytes;
    return true;
  }
  if (!over_budget_) {
    over_budget_ = true;
    problems_->Add(offset,
                   "the report needs too much memory; parts are left out");
  }
  return false;
}

void ModelBuilder::CrashedFirst() {
  std::vector<Thread> ordered;
  ordered.reserve(report_->threads.size());
  for (const bool crashed : {true, false}) {
    for (Thread& thread : report_->threads) {
      if (thread.crashed == crashed) {
        ordered.push_back(std::move(thread));
      }
    }
  }
  report_->threads = std::move(ordered);
}

void ModelBuilder::MarkUnloaded() {
  for (const uint64_t index : unloaded_) {
    if (index < report_->images.size()) {
      report_->images[index].unloaded = true;
    } else {
      problems_->Add(0, "image ", index, ", unloaded, is not there");
    }
  }
}

void ModelBuilder::ExpandStacks() {
  for (const Stack& stack : stacks_) {
    Thread& thread = report_->threads[stack.thread];
    thread.frames.clear();
    switch (trie_.AppendPath(stack.leaf, report_->images, &thread.frames)) {
      case FrameTrie::Expand::kWhole:
        break;
      case FrameTrie::Expand::kTooDeep:
        problems_->Add(stack.offset,
                       "thread ",
                       thread.id,
                       ": only the innermost frames are shown");
        break;
      case FrameTrie::Expand::kTooMany:
        problems_->Add(
            stack.offset,
            "thread ",
            thread.id,
            ": its frames, and those of later threads, are more than "
            "a report may have");
        return;
      case FrameTrie::Expand::kUnknownImage:
        problems_->Add(stack.offset,
                       "thread ",
                       thread.id,
                       ": frames in an image that is not there");
        break;
    }
  }
}

// The same names for each frame of a node; bounded by the budget.
void ModelBuilder::NameFrames() {
  if (symbols_.empty()) {
    return;
  }
  for (Thread& thread : report_->threads) {
    for (Frame& frame : thread.frames) {
      if (frame.node >= symbols_of_node_.size() ||
          symbols_of_node_[frame.node] == 0) {
        continue;
      }
      const auto& names = symbols_[symbols_of_node_[frame.node] - 1];
      size_t bytes = names.size() * sizeof(SymbolFrame);
      for (const SymbolFrame& name : names) {
        bytes += name.function.size() + name.function_mangled.size() +
                 name.file.size();
      }
      if (Charge(bytes, 0)) {
        frame.symbols = names;
      }
    }
  }
}

}  // namespace cairn::report
