// SPDX-License-Identifier: Apache-2.0
#include "handlers/crash_base.h"

namespace cairn::handlers {
namespace {

CrashBase* g_base = nullptr;

}  // namespace

CrashBase* Base() {
  return __atomic_load_n(&g_base, __ATOMIC_ACQUIRE);
}

void SetBase(CrashBase* base) {
  __atomic_store_n(&g_base, base, __ATOMIC_RELEASE);
}

}  // namespace cairn::handlers
