// SPDX-License-Identifier: Apache-2.0
#include "report/headline.h"

#include "report/crash_calls.h"
#include "report/hex.h"
#include "report/names.h"
#include "report/text.h"
#include "report/text_out.h"
#include "report/type_name.h"

namespace cairn::report {
namespace {

// Longest part of a message or a name in the headline, bytes.
constexpr size_t kMaxPartBytes = 160;

std::string Shortened(const std::string& text) {
  if (text.size() <= kMaxPartBytes) {
    return Clean(text);
  }
  return Clean(text.substr(0, kMaxPartBytes)) + "…";
}

// "SIGSEGV (SEGV_MAPERR) at 0x0", "SIGTERM (SI_USER) from process 12".
std::string SignalWords(const Report& report) {
  const Signal& signal = *report.signal;
  const format::OperatingSystem os = report.operating_system;
  std::string words = SignalName(os, signal.number) + " (" +
                      SignalCodeName(os, signal.number, signal.code) + ")";
  if (signal.fault_address) {
    words += " at " + HexNumber(*signal.fault_address);
  } else if (signal.sender_pid && signal.sender_pid != report.process.pid) {
    words += " from process " + std::to_string(*signal.sender_pid);
  }
  return words;
}

std::string MachWords(const MachException& mach) {
  const std::string code = MachCodeName(mach.exception, mach.code);
  return MachExceptionName(mach.exception) + " (" +
         (code.empty() ? HexNumber(static_cast<uint64_t>(mach.code)) : code) +
         ") at " + HexNumber(mach.subcode);
}

std::string CrashWords(const Report& report) {
  if (report.exception) {
    const std::string& message = report.exception->message;
    return "uncaught " + Shortened(TypeName(report.exception->type_mangled)) +
           (message.empty() ? "" : ": " + Shortened(message));
  }
  if (report.mach) {
    return MachWords(*report.mach);
  }
  return report.signal ? SignalWords(report) : "crash of unknown cause";
}

}  // namespace

std::string WhatHappened(const Report& report) {
  const std::string message =
      report.message.empty() ? "" : ": " + Shortened(report.message);
  switch (report.kind) {
    case format::EventKind::kHang:
      return "hang" + message;
    case format::EventKind::kCapture:
      return "capture" + message;
    case format::EventKind::kSurvived:
      return "survived " + CrashWords(report);
    case format::EventKind::kCrash:
      break;
  }
  return CrashWords(report);
}

std::string Headline(const Report& report) {
  const std::optional<Call> culprit = CulpritOf(report);
  const std::string what = WhatHappened(report);
  return culprit ? what + " in " +
                       Shortened(PlaceName(
                           report, *culprit->frame, false, culprit->symbol))
                 : what;
}

}  // namespace cairn::report
