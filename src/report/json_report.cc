// SPDX-License-Identifier: Apache-2.0
//
// WriteReport → app, signal, mach, exception, threads, images, process, host,
// keys, breadcrumbs, memory, cuts, stages, problems.
#include <unordered_set>

#include "report/json_members.h"
#include "report/json_sections.h"
#include "report/names.h"
#include "report/time_text.h"
#include "report/type_name.h"

namespace cairn::report {
namespace {

void WriteApp(const App& app, JsonSink* sink) {
  if (app.id.empty() && app.version.empty() && app.build.empty() &&
      app.environment.empty()) {
    return;
  }
  const ScopedObject object(sink, "app");
  const Members members(sink);
  members.Text("id", app.id);
  members.Text("version", app.version);
  members.Text("build", app.build);
  members.Text("environment", app.environment);
}

void WriteSignal(const Report& report, JsonSink* sink) {
  if (!report.signal) {
    return;
  }
  const Signal& signal = *report.signal;
  const format::OperatingSystem os = report.operating_system;
  const ScopedObject object(sink, "signal");
  const Members members(sink);
  members.Text("name", SignalName(os, signal.number));
  members.Number("number", uint64_t{signal.number});
  members.Signed("code", signal.code);
  members.Text("code_name", SignalCodeName(os, signal.number, signal.code));
  members.Text("meaning", SignalMeaning(os, signal.number));
  if (signal.fault_address) {
    members.Address("fault_address", *signal.fault_address);
  }
  members.Number("sender_pid", signal.sender_pid);
  members.Number("sender_uid", signal.sender_uid);
  if (signal.fault_kind) {
    members.Word("fault_kind", Name(*signal.fault_kind));
  }
  members.Signed("errno", signal.error);
  members.Signed("syscall", signal.syscall);
  members.Number("trap", signal.trap);
  members.Number("trap_error", signal.trap_error);
}

void WriteMach(const Report& report, JsonSink* sink) {
  if (!report.mach) {
    return;
  }
  const ScopedObject object(sink, "mach");
  const Members members(sink);
  members.Text("exception", MachExceptionName(report.mach->exception));
  members.Address("code", static_cast<uint64_t>(report.mach->code));
  members.Text("code_name",
               MachCodeName(report.mach->exception, report.mach->code));
  members.Address("subcode", report.mach->subcode);
}

void WriteException(const Report& report, JsonSink* sink) {
  if (!report.exception) {
    return;
  }
  const ScopedObject object(sink, "exception");
  const Members members(sink);
  members.Text("type", TypeName(report.exception->type_mangled));
  members.Text("type_mangled", report.exception->type_mangled);
  members.Text("message", report.exception->message);
}

void WriteProcess(const Process& process, JsonSink* sink) {
  const ScopedObject object(sink, "process");
  const Members members(sink);
  members.Number("pid", process.pid);
  members.Number("parent_pid", process.parent_pid);
  members.Text("name", process.name);
  members.Text("path", process.path);
  if (!process.args.empty()) {
    const ScopedArray args(sink, "args");
    for (const std::string& argument : process.args) {
      sink->String(MendUtf8(argument));
    }
  }
  members.Number("uptime_ms", process.uptime_ms);
}

void WriteHost(const Host& host, JsonSink* sink) {
  const ScopedObject object(sink, "host");
  const Members members(sink);
  members.Text("os", host.os);
  members.Text("kernel", host.kernel);
  members.Text("cpu", host.cpu);
  members.Text("cpu_type", host.cpu_type);
  members.Number("cores", host.cores);
  members.Number("memory_bytes", host.memory_bytes);
  members.Number("page_bytes", host.page_bytes);
}

// A name that stands twice in the file stands once here, with its last value.
void WriteKeys(const Report& report, JsonSink* sink) {
  if (report.keys.empty()) {
    return;
  }
  std::unordered_set<std::string> seen;
  std::vector<size_t> last;
  for (size_t i = report.keys.size(); i-- > 0;) {
    if (seen.insert(MendUtf8(report.keys[i].first)).second) {
      last.push_back(i);
    }
  }
  const ScopedObject object(sink, "keys");
  for (size_t i = last.size(); i-- > 0;) {
    const auto& [name, value] = report.keys[last[i]];
    sink->Key(MendUtf8(name));
    sink->String(MendUtf8(value));
  }
}

void WriteBreadcrumbs(const Report& report, JsonSink* sink) {
  if (report.breadcrumbs.empty()) {
    return;
  }
  const ScopedArray array(sink, "breadcrumbs");
  for (const Breadcrumb& breadcrumb : report.breadcrumbs) {
    const ScopedObject object(sink);
    const Members members(sink);
    if (breadcrumb.time_ns != 0) {
      members.Text("time", Rfc3339(breadcrumb.time_ns));
    }
    members.Text("category", breadcrumb.category);
    members.Text("message", breadcrumb.message);
  }
}

void WriteMemory(const Report& report, JsonSink* sink) {
  if (report.memory.empty()) {
    return;
  }
  const ScopedArray array(sink, "memory");
  for (const Memory& memory : report.memory) {
    const ScopedObject object(sink);
    const Members members(sink);
    members.Address("address", memory.address);
    members.Text("reason", memory.reason);
    members.Text("bytes", HexBytes(memory.bytes.data(), memory.bytes.size()));
  }
}

void WriteCuts(const Report& report, JsonSink* sink) {
  if (report.cuts.empty()) {
    return;
  }
  const ScopedArray array(sink, "cut");
  for (const Cut& cut : report.cuts) {
    const ScopedObject object(sink);
    const Members members(sink);
    members.Word("what", Name(cut.what));
    members.Number("kept", cut.kept);
    members.Number("dropped", cut.dropped);
    members.Number("thread", cut.thread_id);
  }
}

void WriteStages(const Report& report, JsonSink* sink) {
  if (report.stages.empty()) {
    return;
  }
  const ScopedArray array(sink, "stages");
  for (const Stage& stage : report.stages) {
    const ScopedObject object(sink);
    const Members members(sink);
    members.Number("done", uint64_t{stage.done});
    members.Word("frozen_by", Name(stage.freeze));
    members.Number("elapsed_ns", stage.elapsed_ns);
    members.Bool("timed_out", stage.timed_out);
    members.Signed("errno", stage.error);
  }
}

void WriteProblems(const Report& report, JsonSink* sink) {
  if (report.problems.empty() && !sink->IsFull()) {
    return;
  }
  const ScopedArray array(sink, "problems");
  if (sink->IsFull()) {
    const ScopedObject object(sink);
    const Members members(sink);
    members.Text("text", "too large to show whole; frames are left out");
  }
  for (const Problem& problem : report.problems) {
    const ScopedObject object(sink);
    const Members members(sink);
    members.Number("offset", problem.offset);
    members.Text("text", problem.text);
  }
}

}  // namespace

void WriteReport(const Report& report,
                 const JsonOptions& options,
                 JsonSink* sink) {
  const ScopedObject object(sink);
  const Members members(sink);
  members.Number("format", uint64_t{report.format_version});
  members.Text("uuid", UuidText(report.uuid));
  if (report.time_ns) {
    members.Text("time", Rfc3339(*report.time_ns));
  }
  members.Bool("complete", report.complete);
  members.Word("kind", Name(report.kind));
  members.Word("arch", Name(report.architecture));
  members.Text("message", report.message);
  WriteApp(report.app, sink);
  WriteSignal(report, sink);
  WriteMach(report, sink);
  WriteException(report, sink);
  members.Text("abort_message", report.abort_message);
  WriteThreads(report, options, sink);
  WriteImages(report, sink);
  WriteProcess(report.process, sink);
  WriteHost(report.host, sink);
  WriteKeys(report, sink);
  WriteBreadcrumbs(report, sink);
  WriteMemory(report, sink);
  WriteCuts(report, sink);
  WriteStages(report, sink);
  WriteProblems(report, sink);
}

}  // namespace cairn::report
