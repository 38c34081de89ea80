// SPDX-License-Identifier: Apache-2.0
//
// Tells whether an address stands behind a call instruction, and whom that
// call may call. x86_64, i386 and arm64; for others nothing is behind a call.
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
// (a PLT entry); 0 when it depends on registers.
uint64_t CalledAddress(const safe::MemoryReader& code,
                       format::Architecture architecture,
                       uint64_t address);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_CALL_SITE_H_
