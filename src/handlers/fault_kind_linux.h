// SPDX-License-Identifier: Apache-2.0
//
// What a signal means: whether its address is one, and what stands there.
//
// Crash time: yes.
#ifndef CAIRN_HANDLERS_FAULT_KIND_LINUX_H_
#define CAIRN_HANDLERS_FAULT_KIND_LINUX_H_

#include "capture/unwinder.h"
#include "handlers/crash_state.h"
#include "writer/report_records.h"

namespace cairn::handlers {

// What siginfo and ucontext tell by themselves. fault_kind is set where the
// signal's own code decides it; RefineFaultKind looks at the mappings.
void ReadSignalFacts(int signal,
                     const void* siginfo,
                     const void* ucontext,
                     writer::SignalFacts* out);

// Tells a stack's guard from other unmapped memory and finds the stack's
// bounds, by one pass over /proc/self/maps. `stack` stays zero where that
// cannot be read. The guard is told by the thread's own stack, never by the
// signal's number.
void LookAround(const CrashState& state,
                writer::SignalFacts* signal,
                capture::StackBounds* stack);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_FAULT_KIND_LINUX_H_
