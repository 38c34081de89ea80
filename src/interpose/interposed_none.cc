// SPDX-License-Identifier: Apache-2.0
//
// Builds with a sanitizer: its run-time library stands in front of the same
// functions.
#include "interpose/interposed.h"

namespace cairn::interpose {

void PrepareInterposition() {}

bool IsInterposed() {
  return false;
}

}  // namespace cairn::interpose
