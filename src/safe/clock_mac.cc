// SPDX-License-Identifier: Apache-2.0
#include "safe/clock.h"

#include <mach/mach.h>
#include <mach/mach_time.h>
#include <sys/time.h>
#include <unistd.h>

namespace cairn::safe {

// The tick is 1 ns on x86_64 and 125/3 ns on arm64. The product stays below 64
// bits for 190 years of uptime there.
uint64_t MonotonicNs() {
  mach_timebase_info_data_t base = {1, 1};
  mach_timebase_info(&base);
  return mach_absolute_time() * base.numer / base.denom;
}

uint64_t UnixTimeNs() {
  struct timeval now = {};
  gettimeofday(&now, nullptr);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_usec) * 1000u;
}

int32_t ProcessId() {
  return getpid();
}

// From the thread's port, not from its own memory, which may be damaged.
int32_t ThreadId() {
  thread_identifier_info_data_t info = {};
  mach_msg_type_number_t count = THREAD_IDENTIFIER_INFO_COUNT;
  const mach_port_t self = mach_thread_self();
  thread_info(self,
              THREAD_IDENTIFIER_INFO,
              reinterpret_cast<thread_info_t>(&info),
              &count);
  mach_port_deallocate(mach_task_self_, self);
  return static_cast<int32_t>(info.thread_id);
}

}  // namespace cairn::safe
