// SPDX-License-Identifier: Apache-2.0
//
// A report that has every member, for the test of the schema.
#include <cstdio>

#include "format_members.h"
#include "report/json.h"

namespace cairn::tools {
namespace {

report::Signal FullSignal() {
  report::Signal signal;
  signal.number = 11;
  signal.code = 1;
  signal.fault_address = 0;
  signal.fault_kind = format::FaultKind::kNullPage;
  signal.sender_pid = signal.sender_uid = signal.trap = signal.trap_error = 1;
  signal.error = signal.syscall = 1;
  return signal;
}

report::Frame FullFrame() {
  report::Frame frame;
  frame.address = 0x1000;
  frame.image = 0;
  report::SymbolFrame symbol;
  symbol.function = "f()";
  symbol.function_mangled = "_Z1fv";
  symbol.file = "f.cc";
  symbol.offset = 1;
  symbol.line = symbol.column = 1;
  frame.symbols = {symbol};
  return frame;
}

report::Thread FullThread() {
  report::Thread thread;
  thread.name = "main";
  thread.state = 'R';
  thread.cpu_time_ms = 1;
  thread.end = format::WalkEnd::kEndOfStack;
  thread.frames = {FullFrame()};
  thread.gap_position = thread.gap_frames = 1;
  thread.registers = {{0, 1}};
  thread.stack_low = thread.stack_high = 0x2000;
  thread.stack = {1};
  return thread;
}

report::Image FullImage() {
  report::Image image;
  image.path = "/bin/f";
  image.id = {1};
  image.id_is_derived = true;
  return image;
}

report::Report FullReport() {
  report::Report report;
  report.architecture = format::Architecture::kX86_64;
  report.operating_system = format::OperatingSystem::kLinux;
  report.problems = {{1, "a problem"}};
  report.app = {"id", "version", "build", "environment"};
  report.host = {"os", "kernel", "cpu", "type", 1, 1, 1};
  report.process.pid = report.process.parent_pid = 1;
  report.process.uptime_ms = 1;
  report.process.name = report.process.path = "f";
  report.process.args = {"f"};
  report.time_ns = 1;
  report.message = report.abort_message = "message";
  report.signal = FullSignal();
  report.mach = {1, 1, 1};
  report.exception = {"St9exception", "message"};
  report.images = {FullImage()};
  report.threads = {FullThread()};
  report.memory = {{1, {1}, "rsp"}};
  report.keys = {{"key", "value"}};
  report.breadcrumbs = {{1, "message", "category"}};
  report.cuts = {{format::CutWhat::kFrames, 1, 1, 1}};
  report.stages = {{1, format::FrozenBy::kPtrace, 1, 1, false}};
  report.symbol_status = {{0, "ok"}};
  return report;
}

}  // namespace

void PrintExample() {
  std::printf("%s\n", ToJson(FullReport(), {.pretty = true}).c_str());
}

}  // namespace cairn::tools
