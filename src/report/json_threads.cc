// SPDX-License-Identifier: Apache-2.0
//
// Threads, frames and images as JSON.
#include "format/register_names.h"
#include "report/image_text.h"
#include "report/json_members.h"
#include "report/json_sections.h"
#include "report/names.h"

namespace cairn::report {
namespace {

void WriteSymbol(const SymbolFrame& symbol, const Members& members) {
  members.Text("function", symbol.function);
  members.Text("function_mangled", symbol.function_mangled);
  members.Number("offset", symbol.offset);
  if (!symbol.function.empty()) {
    members.Bool("name_sure", symbol.name_sure);
  }
}

void WriteSource(const SymbolFrame& symbol, const Members& members) {
  members.Text("file", symbol.file);
  if (symbol.line != 0) {
    members.Number("line", uint64_t{symbol.line});
  }
  if (symbol.column != 0) {
    members.Number("column", uint64_t{symbol.column});
  }
}

void WriteFrame(const Report& report,
                const Frame& frame,
                const SymbolFrame* symbol,
                JsonSink* sink) {
  const ScopedObject object(sink);
  const Members members(sink);
  members.Address("address", frame.address);
  members.Word("kind", Name(frame.kind));
  members.Word("trust", Name(frame.trust));
  if (symbol != nullptr) {
    WriteSymbol(*symbol, members);
  }
  if (frame.image && *frame.image < report.images.size()) {
    const Image& image = report.images[*frame.image];
    members.Text("module", BaseName(image.path));
    members.Text("module_path", image.path);
    members.Address("module_offset", frame.image_offset);
  }
  if (symbol != nullptr) {
    WriteSource(*symbol, members);
  }
  members.Bool("inlined", symbol != nullptr && symbol->inlined);
}

void WriteFrames(const Report& report,
                 const Thread& thread,
                 const JsonOptions& options,
                 JsonSink* sink) {
  const ScopedArray array(sink, "frames");
  for (const Frame& frame : thread.frames) {
    if (sink->IsFull()) {
      return;
    }
    if (options.raw || frame.symbols.empty()) {
      WriteFrame(report, frame, nullptr, sink);
      continue;
    }
    for (const SymbolFrame& symbol : frame.symbols) {
      WriteFrame(report, frame, &symbol, sink);
    }
  }
}

void WriteRegisters(const Report& report,
                    const Thread& thread,
                    JsonSink* sink) {
  if (thread.registers.empty()) {
    return;
  }
  const ScopedObject object(sink, "registers");
  const Members members(sink);
  for (const auto& [index, value] : thread.registers) {
    members.Address(RegisterName(report.architecture, index).c_str(), value);
  }
}

void WriteStack(const Thread& thread, JsonSink* sink) {
  const Members members(sink);
  if (thread.stack.empty() && !thread.stack_high) {
    return;
  }
  const ScopedObject object(sink, "stack");
  if (!thread.stack.empty()) {
    members.Address("address", thread.stack_address);
    members.Text("bytes", HexBytes(thread.stack.data(), thread.stack.size()));
  }
  if (thread.stack_low) {
    members.Address("low", *thread.stack_low);
  }
  if (thread.stack_high) {
    members.Address("high", *thread.stack_high);
  }
}

void WriteThread(const Report& report,
                 const Thread& thread,
                 const JsonOptions& options,
                 JsonSink* sink) {
  const ScopedObject object(sink);
  const Members members(sink);
  members.Number("id", thread.id);
  members.Text("name", thread.name);
  members.Bool("crashed", thread.crashed);
  if (thread.state != '\0') {
    members.Text("state", std::string(1, thread.state));
  }
  members.Word("frozen_by", Name(thread.frozen_by));
  if (thread.end) {
    members.Word("end", Name(*thread.end));
  }
  members.Number("cpu_time_ms", thread.cpu_time_ms);
  WriteFrames(report, thread, options, sink);
  if (thread.gap_frames != 0) {
    const ScopedObject gap(sink, "gap");
    members.Number("position", thread.gap_position);
    members.Number("frames", thread.gap_frames);
  }
  WriteRegisters(report, thread, sink);
  WriteStack(thread, sink);
}

}  // namespace

void WriteThreads(const Report& report,
                  const JsonOptions& options,
                  JsonSink* sink) {
  const ScopedArray array(sink, "threads");
  for (const Thread& thread : report.threads) {
    WriteThread(report, thread, options, sink);
  }
}

void WriteImages(const Report& report, JsonSink* sink) {
  if (report.images.empty()) {
    return;
  }
  const std::vector<std::string> statuses = SymbolStatuses(report);
  const ScopedArray array(sink, "images");
  for (size_t i = 0; i < report.images.size(); ++i) {
    const Image& image = report.images[i];
    const ScopedObject object(sink);
    const Members members(sink);
    members.Text("path", image.path);
    members.Text("id", HexBytes(image.id.data(), image.id.size()));
    if (image.id_is_derived) {
      members.Bool("id_is_derived", true);
    }
    members.Word("arch", Name(ArchitectureOf(report, image)));
    members.Address("address", image.address);
    members.Number("size", image.bytes);
    members.Bool("unloaded", image.unloaded);
    members.Text("symbols", statuses[i]);
  }
}

}  // namespace cairn::report
