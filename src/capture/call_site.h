// SPDX-License-Identifier: Apache-2.0
//
// Tells whether an address stands behind a call instruction, and whom that
// call may call. On 32-bit ARM bit 0 of an address says that its code is Thumb.
//
// Crash time: yes. Any thread.
#ifndef CAIRN_CAPTURE_CALL_SITE_H_
#define CAIRN_CAPTURE_CALL_SITE_H_

#include <cstdint>

#include "format/report_format.h"
#include "safe/memory_reader.h"

namespace cairn::capture {

bool IsBehindCall(const safe::MemoryReader& code,
                  format::Architecture architecture,
                  uint64_t address);

// The address that the call before `address` calls, through at most one jump
// (a PLT entry, a stub); 0 when it depends on registers, and on i386 and 32-bit
// ARM.
uint64_t CalledAddress(const safe::MemoryReader& code,
                       format::Architecture architecture,
                       uint64_t address);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_CALL_SITE_H_
