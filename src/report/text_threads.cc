// SPDX-License-Identifier: Apache-2.0
//
// Stacks as a table: index, address, image, function + offset. The address is
// the recorded one, for a return address too, and so is the offset.
#include <algorithm>
#include <map>

#include "report/hex.h"
#include "report/image_text.h"
#include "report/names.h"
#include "report/text_out.h"

namespace cairn::report {
namespace {

constexpr size_t kMaxModuleColumns = 24;
constexpr size_t kRegistersInRow = 4;

struct Row {
  std::string address, module, text;
};

std::string ModuleName(const Report& report, const Frame& frame) {
  if (!frame.image || *frame.image >= report.images.size()) {
    return "???";
  }
  return Clean(BaseName(report.images[*frame.image].path));
}

// What makes a frame less sure than one from unwind tables.
std::string Doubts(const Report& report,
                   const Frame& frame,
                   const SymbolFrame* symbol) {
  std::string doubts;
  if (frame.trust == format::FrameTrust::kScan) {
    doubts += "  (found by scanning, may be stale)";
  } else if (frame.trust == format::FrameTrust::kFramePointer) {
    doubts += "  (by frame pointer)";
  }
  if (symbol != nullptr && !symbol->name_sure) {
    doubts += "  (name not sure)";
  }
  if (frame.image && *frame.image < report.images.size() &&
      report.images[*frame.image].unloaded) {
    doubts += "  (unloaded)";
  }
  return doubts;
}

Row PlainRow(const Report& report, const Frame& frame, const TextOut& out) {
  Row row{HexNumber(frame.address), ModuleName(report, frame), ""};
  row.text = frame.image ? PlaceName(report, frame, true) : "in no image";
  row.text += out.Painted(Style::kDim, Doubts(report, frame, nullptr));
  return row;
}

Row NamedRow(const Report& report,
             const Frame& frame,
             const SymbolFrame& symbol,
             const TextOut& out) {
  Row row{HexNumber(frame.address), ModuleName(report, frame), ""};
  if (symbol.function.empty()) {
    row.text = PlaceName(report, frame, true);
  } else {
    row.text = out.Painted(Style::kCode, Clean(symbol.function));
    if (symbol.offset) {
      row.text += " + " + std::to_string(*symbol.offset);
    }
  }
  if (symbol.inlined) {
    row.text += " [inlined]";
  }
  if (!symbol.file.empty()) {
    row.text += "  " + Clean(symbol.file);
    row.text += symbol.line != 0 ? ":" + std::to_string(symbol.line) : "";
  }
  row.text += out.Painted(Style::kDim, Doubts(report, frame, &symbol));
  return row;
}

std::vector<Row> RowsOf(const Report& report,
                        const Frame& frame,
                        const TextOut& out) {
  std::vector<Row> rows;
  if (out.options().raw || frame.symbols.empty()) {
    rows.push_back(PlainRow(report, frame, out));
    return rows;
  }
  for (const SymbolFrame& symbol : frame.symbols) {
    rows.push_back(NamedRow(report, frame, symbol, out));
  }
  return rows;
}

std::string Padded(const std::string& text, size_t columns) {
  const size_t used = Columns(text);
  return used < columns ? text + std::string(columns - used, ' ') : text;
}

struct Widths {
  size_t address = 0, module = 0;
};

Widths WidthsOf(const Report& report, const Thread& thread) {
  Widths widths;
  for (const Frame& frame : thread.frames) {
    widths.address = std::max(widths.address, HexNumber(frame.address).size());
    const size_t module = Columns(ModuleName(report, frame));
    if (module <= kMaxModuleColumns) {
      widths.module = std::max(widths.module, module);
    }
  }
  return widths;
}

void PrintRow(size_t index, const Row& row, Widths widths, TextOut* out) {
  std::string number = std::to_string(index);
  number.insert(0, number.size() < 2 ? 2 - number.size() : 0, ' ');
  out->Line(number + "  " + Padded(row.address, widths.address) + "  " +
            Padded(row.module, widths.module) + "  " + row.text);
}

void PrintEnd(const Thread& thread, TextOut* out) {
  if (!thread.end) {
    return;
  }
  switch (*thread.end) {
    case format::WalkEnd::kEndOfStack:
      return;
    case format::WalkEnd::kNoRule:
      return out->Line("    the walk ended: nothing tells the next caller");
    case format::WalkEnd::kUnreadable:
      return out->Line("    the walk ended: the stack is not readable there");
    case format::WalkEnd::kLoop:
      return out->Line("    the walk ended: the stack leads back into itself");
    case format::WalkEnd::kLimit:
      return out->Line("    the walk ended: the limit of frames is reached");
  }
}

void PrintFrames(const Report& report, const Thread& thread, TextOut* out) {
  const Widths widths = WidthsOf(report, thread);
  size_t row_number = 0;
  for (size_t i = 0; i < thread.frames.size(); ++i) {
    if (out->IsFull()) {
      return;
    }
    if (thread.gap_frames != 0 && i == thread.gap_position) {
      out->Line("    … " + std::to_string(thread.gap_frames) +
                " frames were left out here …");
    }
    for (const Row& row : RowsOf(report, thread.frames[i], *out)) {
      PrintRow(row_number++, row, widths, out);
    }
  }
  if (thread.frames.empty()) {
    out->Line("    no frames");
  }
  PrintEnd(thread, out);
}

std::string ThreadName(const Thread& thread) {
  std::string name = std::to_string(thread.id);
  if (!thread.name.empty()) {
    name += " " + Clean(thread.name);
  }
  return name;
}

std::string StateWords(char state) {
  switch (state) {
    case 'R':
      return ", running";
    case 'S':
      return ", sleeping";
    case 'D':
      return ", in an uninterruptible wait";
    case 'T':
    case 't':
      return ", stopped";
    case 'Z':
    case 'X':
      return ", dead";
    default:
      return "";
  }
}

void PrintRegisters(const Report& report, const Thread& thread, TextOut* out) {
  if (thread.registers.empty()) {
    return;
  }
  out->Title("Registers of thread " + ThreadName(thread));
  std::string line;
  for (size_t i = 0; i < thread.registers.size(); ++i) {
    const auto& [index, value] = thread.registers[i];
    std::string name = RegisterName(report.architecture, index);
    name.insert(0, name.size() < 7 ? 7 - name.size() : 0, ' ');
    line += name + " " + Padded(HexNumber(value), 18);
    if (i % kRegistersInRow == kRegistersInRow - 1 ||
        i + 1 == thread.registers.size()) {
      line.erase(line.find_last_not_of(' ') + 1);
      out->Line(line);
      line.clear();
    }
  }
}

// Threads with the same stack, in the order of the first of each.
std::vector<std::vector<const Thread*>> Folded(const Report& report) {
  std::vector<std::vector<const Thread*>> groups;
  std::map<std::vector<uint64_t>, size_t> by_stack;
  for (const Thread& thread : report.threads) {
    if (thread.crashed) {
      continue;
    }
    std::vector<uint64_t> key = {thread.gap_position, thread.gap_frames};
    for (const Frame& frame : thread.frames) {
      key.push_back(frame.address);
    }
    const auto [at, is_new] = by_stack.emplace(std::move(key), groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    groups[at->second].push_back(&thread);
  }
  return groups;
}

// As many names as fit into two lines.
std::string NamesOf(const std::vector<const Thread*>& threads, int width) {
  std::string names;
  for (size_t i = 0; i < threads.size(); ++i) {
    const std::string own = threads[i]->name.empty()
                                ? std::to_string(threads[i]->id)
                                : Clean(threads[i]->name);
    const std::string name = (i > 0 ? ", " : "") + own;
    if (i > 0 && names.size() + name.size() > static_cast<size_t>(width) * 2) {
      return names + " and " + std::to_string(threads.size() - i) + " more";
    }
    names += name;
  }
  return names;
}

void PrintGroup(const Report& report,
                const std::vector<const Thread*>& threads,
                TextOut* out) {
  if (threads.size() == 1) {
    out->Title("Thread " + ThreadName(*threads[0]) +
               StateWords(threads[0]->state));
  } else {
    out->Title(std::to_string(threads.size()) + " threads with this stack: " +
               NamesOf(threads, out->options().width));
  }
  PrintFrames(report, *threads[0], out);
}

}  // namespace

void PrintThreads(const Report& report, TextOut* out) {
  for (const Thread& thread : report.threads) {
    if (thread.crashed) {
      out->Title("Thread " + ThreadName(thread) + ", crashed");
      PrintFrames(report, thread, out);
      PrintRegisters(report, thread, out);
    }
  }
  if (!out->options().all_threads) {
    return;
  }
  for (const auto& group : Folded(report)) {
    if (out->IsFull()) {
      out->Line();
      out->Line("Too large to show whole; the other threads are left out.");
      return;
    }
    PrintGroup(report, group, out);
  }
}

}  // namespace cairn::report
