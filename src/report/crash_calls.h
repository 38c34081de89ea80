// SPDX-License-Identifier: Apache-2.0
//
// The crashed thread's calls with what each says about where it happened: the
// one judgement behind the headline, the viewer's first frame and the server's
// signature.
//
// Any thread. Pure. Calls point into the report.
#ifndef CAIRN_REPORT_CRASH_CALLS_H_
#define CAIRN_REPORT_CRASH_CALLS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/frame_rules.h"
#include "report/report.h"

namespace cairn::report {

// Innermost calls that are looked at.
inline constexpr size_t kMaxCrashCalls = 256;

struct Call {
  // The function, normalised; without a sure name "module+0x12", of a library
  // of the system its name alone, or "(no module)".
  std::string token;
  FrameRole role = FrameRole::kPlace;
  bool of_system = false;  // in a library of the system, named or not
  const Frame* frame = nullptr;
  size_t symbol = 0;  // which of the frame's symbols
};

// The thread marked as crashed, else the first; null when there is none.
const Thread* CrashedThread(const Report& report);

// Innermost first, every inlined call too, up to where frames were left out.
// Those found by a scan may be stale: they are among them only if none of the
// others is a place.
std::vector<Call> CrashCalls(const Report& report);

// Whether the program was ended by words of its own: an abort, an uncaught
// exception, a signal that it sent itself.
bool EndedItself(const Report& report);

// The index of the first call that does not only tell how the program ended
// (abort, raise, throw, Cairn's own); the one behind the trampoline, if a
// handler raised again. 0 if there are only such.
size_t BehindEnding(const std::vector<Call>& calls, bool ended_itself);

// The call to look at first: behind the ending, and where the program ended
// itself outside of the system's libraries and of helpers. nullopt: no calls.
std::optional<Call> CulpritOf(const Report& report);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_CRASH_CALLS_H_
