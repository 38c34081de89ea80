// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"

namespace cairn::report {

// The format's own enumerations; values of later versions are "unknown".
#define CAIRN_V(name, value, json) \
  case Enum::k##name:              \
    return json;
#define CAIRN_NAME(type, list)           \
  const char* Name(format::type which) { \
    using Enum = format::type;           \
    switch (which) { list(CAIRN_V) }     \
    return "unknown";                    \
  }
CAIRN_NAME(EventKind, CAIRN_EVENT_KINDS)
CAIRN_NAME(FaultKind, CAIRN_FAULT_KINDS)
CAIRN_NAME(FrozenBy, CAIRN_FROZEN_BYS)
CAIRN_NAME(WalkEnd, CAIRN_WALK_ENDS)
CAIRN_NAME(FrameTrust, CAIRN_FRAME_TRUSTS)
CAIRN_NAME(FrameKind, CAIRN_FRAME_KINDS)
CAIRN_NAME(CutWhat, CAIRN_CUT_WHATS)
#undef CAIRN_NAME
#undef CAIRN_V

const char* Name(format::Architecture architecture) {
  switch (architecture) {
    case format::Architecture::kX86_64:
      return "x86_64";
    case format::Architecture::kI386:
      return "i386";
    case format::Architecture::kArm64:
      return "arm64";
    case format::Architecture::kArm:
      return "armv7";
    case format::Architecture::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace cairn::report
