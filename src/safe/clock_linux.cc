// SPDX-License-Identifier: Apache-2.0
#include "safe/clock.h"

#include "safe/syscall_linux.h"

namespace cairn::safe {

uint64_t MonotonicNs() {
  return ClockNs(1 /* CLOCK_MONOTONIC */);
}
uint64_t UnixTimeNs() {
  return ClockNs(0 /* CLOCK_REALTIME */);
}
int32_t ProcessId() {
  return static_cast<int32_t>(SystemCall(SYS_getpid));
}
int32_t ThreadId() {
  return static_cast<int32_t>(SystemCall(SYS_gettid));
}

}  // namespace cairn::safe
