// SPDX-License-Identifier: Apache-2.0
//
// ToText → head (what, why, where, facts) → threads → registers → images →
// trail → what is missing.
#include "report/text.h"

#include "report/crash_calls.h"
#include "report/headline.h"
#include "report/hex.h"
#include "report/names.h"
#include "report/text_out.h"
#include "report/time_text.h"
#include "report/type_name.h"

namespace cairn::report {
namespace {

std::string Joined(std::initializer_list<std::string> parts,
                   const std::string& between) {
  std::string joined;
  for (const std::string& part : parts) {
    if (!part.empty()) {
      joined += (joined.empty() ? "" : between) + part;
    }
  }
  return joined;
}

// A signal that a process sent, other than the abort that a program asks for
// itself.
std::string Sender(const Report& report) {
  const Signal& signal = *report.signal;
  constexpr uint32_t kAbort = 6;  // on Linux and on Apple systems
  if (!signal.sender_pid || signal.number == kAbort) {
    return "";
  }
  if (signal.sender_pid == report.process.pid) {
    return "nothing faulted: the process sent the signal to itself";
  }
  return "nothing faulted: process " + std::to_string(*signal.sender_pid) +
         " sent the signal";
}

// What the headline's terms mean.
std::string Why(const Report& report) {
  if (!report.signal) {
    return "";
  }
  const Signal& signal = *report.signal;
  const std::string sender = Sender(report);
  if (!sender.empty()) {
    return sender;
  }
  std::string why = SignalMeaning(report.operating_system, signal.number);
  if (!signal.fault_kind) {
    return why;
  }
  switch (*signal.fault_kind) {
    case format::FaultKind::kNullPage:
      return why + ": a null pointer was followed";
    case format::FaultKind::kStackGuard:
      return why + ": the stack is used up";
    case format::FaultKind::kNonCanonical:
      return why + ": no address of this processor, a pointer was overwritten";
    case format::FaultKind::kUnmapped:
      return why + ": nothing is mapped there";
    case format::FaultKind::kProtected:
      return why + ": the memory there is protected";
    case format::FaultKind::kNotExecutable:
      return why + ": the memory there holds no code";
    case format::FaultKind::kMisaligned:
      return why + ": the address is not aligned";
    case format::FaultKind::kFreedMapping:
      return why + ": the memory there had been unmapped";
    case format::FaultKind::kNone:
      break;
  }
  return why;
}

std::string Where(const Report& report, const TextOut& out) {
  const std::optional<Call> culprit = CulpritOf(report);
  if (!culprit) {
    return "";
  }
  const bool raw = out.options().raw;
  const std::vector<SymbolFrame>& symbols = culprit->frame->symbols;
  const size_t symbol = culprit->symbol;
  std::string where = PlaceName(report, *culprit->frame, raw, symbol);
  if (!raw && symbol < symbols.size() && !symbols[symbol].file.empty()) {
    where += " at " + Clean(symbols[symbol].file) + ":" +
             std::to_string(symbols[symbol].line);
  }
  return where;
}

std::string AppWords(const App& app) {
  return Joined({Clean(Joined({app.id, app.version}, " ")),
                 app.build.empty() ? "" : "build " + Clean(app.build),
                 Clean(app.environment)},
                ", ");
}

std::string ProcessWords(const Process& process) {
  return Joined({Clean(process.path.empty() ? process.name : process.path),
                 process.pid ? "pid " + std::to_string(*process.pid) : "",
                 process.uptime_ms ? "up " + Duration(*process.uptime_ms) : ""},
                ", ");
}

std::string Arguments(const Process& process) {
  std::string line;
  for (size_t i = 1; i < process.args.size(); ++i) {
    line += (line.empty() ? "" : " ") + Clean(process.args[i]);
  }
  return line;
}

std::string HostWords(const Host& host) {
  std::string memory;
  if (host.memory_bytes) {
    const uint64_t mebibytes = *host.memory_bytes >> 20;
    memory = mebibytes < 10240 ? std::to_string(mebibytes) + " MiB"
                               : std::to_string(mebibytes >> 10) + " GiB";
  }
  return Joined({Clean(host.os),
                 Clean(host.kernel),
                 Clean(host.cpu),
                 host.cores ? std::to_string(*host.cores) + " cores" : "",
                 memory},
                ", ");
}

std::string SignalDetails(const Report& report) {
  if (!report.signal || !(report.exception || report.mach)) {
    return "";
  }
  const Signal& signal = *report.signal;
  return SignalName(report.operating_system, signal.number) + " (" +
         SignalCodeName(report.operating_system, signal.number, signal.code) +
         ")";
}

}  // namespace

void PrintHead(const Report& report, TextOut* out) {
  out->Line(out->Painted(Style::kAlarm, WhatHappened(report)));
  const std::string where = Where(report, *out);
  if (!where.empty()) {
    out->Line("in " + out->Painted(Style::kCode, where));
  }
  if (!report.complete) {
    out->Line(out->Painted(
        Style::kAlarm,
        "This report is not whole; what is missing stands at its end."));
  }
  out->Line();
  out->Fact("why", Why(report));
  out->Fact("signal", SignalDetails(report));
  if (report.exception) {
    out->Fact("exception", Clean(TypeName(report.exception->type_mangled)));
    out->Fact("message", Clean(report.exception->message));
  }
  out->Fact("last words", Clean(report.abort_message));
  out->Fact("message", Clean(report.message));
  out->Fact("app", AppWords(report.app));
  out->Fact("process", ProcessWords(report.process));
  out->Fact("arguments", Arguments(report.process));
  out->Fact("time", report.time_ns ? Rfc3339(*report.time_ns) : "");
  out->Fact("host", HostWords(report.host));
  out->Fact("report", UuidText(report.uuid));
}

std::string ToText(const Report& report, const TextOptions& options) {
  TextOut out(options);
  PrintHead(report, &out);
  PrintThreads(report, &out);
  PrintTrail(report, &out);
  PrintImages(report, &out);
  PrintLimits(report, &out);
  return out.Take();
}

}  // namespace cairn::report
