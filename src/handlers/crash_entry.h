// SPDX-License-Identifier: Apache-2.0
//
// Where a crash enters.
#ifndef CAIRN_HANDLERS_CRASH_ENTRY_H_
#define CAIRN_HANDLERS_CRASH_ENTRY_H_

#include <cstddef>

#include "handlers/crash_state.h"

namespace cairn::handlers {

// The handler of every signal in kSignals. Crash time: yes.
void OnSignal(int signal, void* siginfo, void* ucontext);

// A report of the calling thread and all others; the process goes on. False
// when another report is being written or no slot could be had. Any thread; not
// from a signal handler. Crash time: yes.
bool CaptureNow(CrashState* state, const char* message, size_t message_bytes);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_CRASH_ENTRY_H_
