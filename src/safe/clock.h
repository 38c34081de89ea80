// SPDX-License-Identifier: Apache-2.0
//
// Clocks and the caller's own ids, the same words on every system.
//
// Crash time: yes. Any thread.
#ifndef CAIRN_SAFE_CLOCK_H_
#define CAIRN_SAFE_CLOCK_H_

#include <cstdint>

namespace cairn::safe {

// Never set back; does not count while the machine sleeps. Nanoseconds.
uint64_t MonotonicNs();
// Since 1970, UTC, nanoseconds.
uint64_t UnixTimeNs();

int32_t ProcessId();
// The kernel's id of the calling thread, the low 32 bits of it where it has
// more.
int32_t ThreadId();

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_CLOCK_H_
