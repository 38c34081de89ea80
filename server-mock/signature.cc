// SPDX-License-Identifier: Apache-2.0
//
// Signature: CrashCalls (all calls of the stack, inlined ones too) →
// BehindEnding → Places or Cycle → Prefix.
#include "signature.h"

#include <algorithm>
#include <map>
#include <vector>

#include "report/crash_calls.h"
#include "report/names.h"
#include "report/type_name.h"

namespace cairn::server {
namespace {

constexpr size_t kPlaces = 3;
constexpr size_t kTokens = 8;

using report::Call;
using report::FrameRole;

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

std::vector<std::string> Places(const std::vector<Call>& calls,
                                bool ended_itself) {
  std::vector<std::string> tokens;
  size_t places = 0, up_to_last_place = 0;
  for (size_t i = report::BehindEnding(calls, ended_itself); i < calls.size();
       ++i) {
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
  const std::vector<Call> calls = report::CrashCalls(report);
  std::vector<std::string> where;
  if (IsStackOverflow(report)) {
    where = Cycle(calls);
  }
  if (where.empty()) {
    where = Places(calls, report::EndedItself(report));
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
