// SPDX-License-Identifier: Apache-2.0
//
// CulpritOf: CrashCalls → BehindEnding → past what only failed for its caller.
#include "report/crash_calls.h"

#include <algorithm>
#include <string_view>

#include "report/function_name.h"
#include "report/hex.h"
#include "report/image_text.h"
#include "report/names.h"

namespace cairn::report {
namespace {

// A handler that raises again stands at most so many calls above what it
// handled.
constexpr size_t kHandlerDepth = 8;

const Image* ImageOf(const Report& report, const Frame& frame) {
  return frame.image && *frame.image < report.images.size()
             ? &report.images[*frame.image]
             : nullptr;
}

Call Unnamed(const Image* image, const Frame& frame) {
  Call call;
  if (image == nullptr) {
    call.token = "(no module)";
    return call;
  }
  std::string module = BaseName(image->path);
  if (module.empty()) {
    module = "(unnamed module)";
  }
  if (image->unloaded) {
    call.token = "(unloaded) " + module;
  } else if (IsSystemModule(module)) {
    call.token = module;
    call.role = FrameRole::kHelper;
  } else {
    call.token = module + "+" + HexNumber(frame.image_offset);
    call.role =
        IsReporterModule(module) ? FrameRole::kEnding : FrameRole::kPlace;
  }
  return call;
}

void AddCalls(const Report& report,
              const Frame& frame,
              std::vector<Call>* calls) {
  const size_t before = calls->size();
  const Image* image = ImageOf(report, frame);
  const size_t symbols = std::min(frame.symbols.size(), kMaxCrashCalls);
  for (size_t i = 0; i < symbols; ++i) {
    const SymbolFrame& symbol = frame.symbols[i];
    if (!symbol.function.empty() && symbol.name_sure) {
      Call call;
      call.token = NormalizeFunction(symbol.function);
      call.role = RoleOf(call.token);
      call.symbol = i;
      calls->push_back(std::move(call));
    }
  }
  if (calls->size() == before) {
    calls->push_back(Unnamed(image, frame));
  }
  for (size_t i = before; i < calls->size(); ++i) {
    (*calls)[i].frame = &frame;
    (*calls)[i].of_system = image != nullptr && !image->unloaded &&
                            IsSystemModule(BaseName(image->path));
  }
}

std::vector<Call> Calls(const Thread& thread,
                        const Report& report,
                        bool scanned) {
  std::vector<Call> calls;
  const size_t count =
      thread.gap_frames != 0
          ? std::min<uint64_t>(thread.frames.size(), thread.gap_position)
          : thread.frames.size();
  for (size_t i = 0; i < count; ++i) {
    const Frame& frame = thread.frames[i];
    const bool is_scanned = frame.trust == format::FrameTrust::kScan;
    if (calls.size() < kMaxCrashCalls && (scanned || !is_scanned)) {
      AddCalls(report, frame, &calls);
    }
  }
  return calls;
}

// Without names, all of the C and C++ libraries stand between an abort and its
// caller.
bool IsEnding(const std::vector<Call>& calls, size_t i, bool ended_itself) {
  const Call& call = calls[i];
  return call.role == FrameRole::kEnding ||
         call.role == FrameRole::kTrampoline ||
         (ended_itself && IsSystemModule(call.token)) ||
         (call.role == FrameRole::kHelper && i + 1 < calls.size() &&
          calls[i + 1].role == FrameRole::kEnding);
}

bool IsSignal(const Report& report, std::string_view name) {
  return report.signal &&
         SignalName(report.operating_system, report.signal->number) == name;
}

}  // namespace

const Thread* CrashedThread(const Report& report) {
  const auto crashed = std::find_if(
      report.threads.begin(), report.threads.end(), [](const Thread& thread) {
        return thread.crashed;
      });
  if (crashed != report.threads.end()) {
    return &*crashed;
  }
  return report.threads.empty() ? nullptr : &report.threads.front();
}

std::vector<Call> CrashCalls(const Report& report) {
  const Thread* thread = CrashedThread(report);
  if (thread == nullptr) {
    return {};
  }
  std::vector<Call> calls = Calls(*thread, report, false);
  const bool has_place =
      std::any_of(calls.begin(), calls.end(), [](const Call& call) {
        return call.role == FrameRole::kPlace;
      });
  return has_place ? calls : Calls(*thread, report, true);
}

bool EndedItself(const Report& report) {
  return report.exception || !report.abort_message.empty() ||
         IsSignal(report, "SIGABRT") ||
         (report.signal && report.signal->sender_pid &&
          report.signal->sender_pid == report.process.pid);
}

size_t BehindEnding(const std::vector<Call>& calls, bool ended_itself) {
  size_t first = 0;
  while (first < calls.size() && IsEnding(calls, first, ended_itself)) {
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

std::optional<Call> CulpritOf(const Report& report) {
  std::vector<Call> calls = CrashCalls(report);
  if (calls.empty()) {
    return std::nullopt;
  }
  const bool ended_itself = EndedItself(report);
  const size_t first = BehindEnding(calls, ended_itself);
  for (size_t i = first; ended_itself && i < calls.size(); ++i) {
    if (calls[i].role == FrameRole::kPlace && !calls[i].of_system) {
      return std::move(calls[i]);
    }
  }
  return std::move(calls[first]);
}

}  // namespace cairn::report
