// SPDX-License-Identifier: Apache-2.0
//
// Signature: Tokens (all calls of the stack, inlined ones too) → SkipEnding →
// Places or Cycle → Prefix.
#include "signature.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <vector>

#include "frame_rules.h"
#include "function_name.h"
#include "report/names.h"
#include "report/type_name.h"

namespace cairn::server {
namespace {

constexpr size_t kMaxCalls = 256;  // innermost ones that are looked at
constexpr size_t kPlaces = 3;
constexpr size_t kTokens = 8;
// A handler that raises again stands at most so many calls above what it
// handled.
constexpr size_t kHandlerDepth = 8;

struct Call {
  std::string token;
  FrameRole role = FrameRole::kPlace;
};

std::string Hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "+0x%" PRIx64, value);
  return text;
}

Call Unnamed(const report::Report& report, const report::Frame& frame) {
  if (!frame.image || *frame.image >= report.images.size()) {
    return {"(no module)", FrameRole::kPlace};
  }
  const report::Image& image = report.images[*frame.image];
  std::string module = image.path.substr(image.path.rfind('/') + 1);
  if (module.empty()) {
    module = "(unnamed module)";
  }
  if (image.unloaded) {
    return {"(unloaded) " + module, FrameRole::kPlace};
  }
  if (IsSystemModule(module)) {
    return {module, FrameRole::kHelper};
  }
  return {module + Hex(frame.image_offset), FrameRole::kPlace};
}

void AddCalls(const report::Report& report,
              const report::Frame& frame,
              std::vector<Call>* calls) {
  bool named = false;
  for (const report::SymbolFrame& symbol : frame.symbols) {
    if (!symbol.function.empty() && symbol.name_sure) {
      std::string name = NormalizeFunction(symbol.function);
      FrameRole role = RoleOf(name);
      calls->push_back({std::move(name), role});
      named = true;
    }
  }
  if (!named) {
    calls->push_back(Unnamed(report, frame));
  }
}

const report::Thread* CrashedThread(const report::Report& report) {
  for (const report::Thread& thread : report.threads) {
    if (thread.crashed) {
      return &thread;
    }
  }
  return report.threads.empty() ? nullptr : &report.threads.front();
}

std::vector<Call> Calls(const report::Report& report, bool scanned) {
  std::vector<Call> calls;
  const report::Thread* thread = CrashedThread(report);
  if (thread == nullptr) {
    return calls;
  }
  for (const report::Frame& frame : thread->frames) {
    bool is_scanned = frame.trust == format::FrameTrust::kScan;
    if (calls.size() < kMaxCalls && (scanned || !is_scanned)) {
      AddCalls(report, frame, &calls);
    }
  }
  return calls;
}

// Whether the call only tells how the program ended. Without names, all of the
// C and C++ libraries stand between an abort and its caller.
bool IsEnding(const std::vector<Call>& calls, size_t i, bool aborted) {
  const Call& call = calls[i];
  return call.role == FrameRole::kEnding ||
         call.role == FrameRole::kTrampoline ||
         (aborted && IsSystemModule(call.token)) ||
         (call.role == FrameRole::kHelper && i + 1 < calls.size() &&
          calls[i + 1].role == FrameRole::kEnding);
}

// The index of the first call that is no ending; behind a trampoline, if the
// ending was reached from a signal handler. 0 if there are only endings.
size_t SkipEnding(const std::vector<Call>& calls, bool aborted) {
  size_t first = 0;
  while (first < calls.size() && IsEnding(calls, first, aborted)) {
    ++first;
  }
  for (size_t i = first;
       first > 0 && i < calls.size() && i < first + kHandlerDepth;
       ++i) {
    if (calls[i].role == FrameRole::kTrampoline && i + 1 < calls.size()) {
      return i + 1;
    }
  }
  return first == calls.size() ? 0 : first;
}

// The functions that come again and again, in the order of their names.
std::vector<std::string> Cycle(const std::vector<Call>& calls) {
  std::map<std::string, size_t> seen;
  for (const Call& call : calls) {
    ++seen[call.token];
  }
  std::vector<std::string> tokens;
  for (const auto& [token, count] : seen) {
    if (count > 2 && tokens.size() < kTokens) {
      tokens.push_back(token);
    }
  }
  return tokens;
}

std::vector<std::string> Places(const std::vector<Call>& calls, bool aborted) {
  std::vector<std::string> tokens;
  size_t places = 0, up_to_last_place = 0;
  for (size_t i = SkipEnding(calls, aborted); i < calls.size(); ++i) {
    const Call& call = calls[i];
    if (places == kPlaces || tokens.size() == kTokens) {
      break;
    }
    bool is_edge =
        call.role == FrameRole::kBase || call.role == FrameRole::kTrampoline;
    if (!tokens.empty() && (is_edge || tokens.back() == call.token)) {
      continue;
    }
    tokens.push_back(call.token);
    if (call.role == FrameRole::kPlace) {
      ++places;
      up_to_last_place = tokens.size();
    }
  }
  // Helpers further out than every place are where threads begin.
  if (places > 0) {
    tokens.resize(up_to_last_place);
  }
  return tokens;
}

bool IsAborted(const report::Report& report) {
  return report.exception ||
         (report.signal &&
          report::SignalName(report.operating_system, report.signal->number) ==
              "SIGABRT");
}

bool IsStackOverflow(const report::Report& report) {
  return report.signal &&
         report.signal->fault_kind == format::FaultKind::kStackGuard;
}

std::vector<std::string> Prefix(const report::Report& report) {
  std::vector<std::string> tokens;
  if (report.kind != format::EventKind::kCrash) {
    tokens.push_back(report::Name(report.kind));
  }
  if (report.exception && !report.exception->type_mangled.empty()) {
    tokens.push_back("exception " +
                     report::TypeName(report.exception->type_mangled));
  }
  if (IsStackOverflow(report)) {
    tokens.push_back("stack overflow");
  }
  return tokens;
}

std::string WithoutStack(const report::Report& report) {
  if (report.signal) {
    return "no stack, " +
           report::SignalName(report.operating_system, report.signal->number);
  }
  return report.mach
             ? "no stack, exception " + std::to_string(report.mach->exception)
             : "no stack";
}

}  // namespace

std::string Signature(const report::Report& report) {
  std::vector<Call> calls = Calls(report, false);
  if (calls.empty()) {
    calls = Calls(report, true);
  }
  std::vector<std::string> where;
  if (IsStackOverflow(report)) {
    where = Cycle(calls);
  }
  if (where.empty()) {
    where = Places(calls, IsAborted(report));
  }
  if (where.empty()) {
    where.push_back(WithoutStack(report));
  }
  std::vector<std::string> tokens = Prefix(report);
  tokens.insert(tokens.end(), where.begin(), where.end());
  std::string signature;
  for (const std::string& token : tokens) {
    signature += (signature.empty() ? "" : " | ") + token;
  }
  // Not inside of a character.
  size_t size = std::min(signature.size(), kMaxSignatureBytes);
  while (size < signature.size() && size > 0 &&
         (static_cast<unsigned char>(signature[size]) & 0xc0) == 0x80) {
    --size;
  }
  return signature.substr(0, size);
}

}  // namespace cairn::server
