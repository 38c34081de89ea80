// SPDX-License-Identifier: Apache-2.0
//
// What a frame says about where a crash happened.
#ifndef CAIRN_REPORT_FRAME_RULES_H_
#define CAIRN_REPORT_FRAME_RULES_H_

#include <string_view>

namespace cairn::report {

enum class FrameRole {
  kPlace,       // this is where it happened
  kEnding,      // how programs end: abort, raise, throw, assert, panic; and
                // the frames of Cairn itself
  kHelper,      // fails for its caller's fault: memcpy, free, std::…
  kTrampoline,  // the kernel's entry into a signal handler
  kBase,        // where every stack of its kind begins
};

// `function` as NormalizeFunction returns it.
FrameRole RoleOf(std::string_view function);
// A library of the system, by base name: without a name its frames are helpers.
bool IsSystemModule(std::string_view module);
// Cairn's own library, by base name.
bool IsReporterModule(std::string_view module);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_FRAME_RULES_H_
