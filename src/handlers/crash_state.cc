// SPDX-License-Identifier: Apache-2.0
#include "handlers/crash_state.h"

namespace cairn::handlers {
namespace {

CrashState* g_state = nullptr;

}  // namespace

CrashState* State() {
  return __atomic_load_n(&g_state, __ATOMIC_ACQUIRE);
}

void SetState(CrashState* state) {
  __atomic_store_n(&g_state, state, __ATOMIC_RELEASE);
}

}  // namespace cairn::handlers
