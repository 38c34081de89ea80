// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/vdso.h"

namespace cairn::symbolicate {

// There is none on this system; a report from Linux may still name its own.
std::shared_ptr<const ByteSource> OwnVdso() {
  return nullptr;
}

}  // namespace cairn::symbolicate
