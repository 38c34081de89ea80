// SPDX-License-Identifier: Apache-2.0
//
// The two stages of a report.
//
//   first   the crashed thread, by itself:  event, registers → images → its own
//   frames second  the writer process:             freeze → all other threads →
//   annotations
//
// Each step ends with a commit, so whatever comes later, what stands is a
// report.
//
// Crash time: yes.
#ifndef CAIRN_HANDLERS_STAGES_LINUX_H_
#define CAIRN_HANDLERS_STAGES_LINUX_H_

#include "handlers/crash_state.h"

namespace cairn::handlers {

// What is being reported: a signal (siginfo and ucontext in the state), or a
// live capture of the calling thread (its registers in the state, no signal).
struct Occasion {
  format::EventKind kind;
  const char* message;
  size_t message_bytes;
};

// Finds a slot for this process's report, prepares its records, sets
// state->slot. False when there is none and none can be made.
bool OpenReport(CrashState* state);

// Crashed thread. Reads only its own stack and the modules.
void WriteFirstStage(CrashState* state, const Occasion& occasion);

// Everything of which the app or the runtime told before: exception, abort
// message, keys, breadcrumbs.
void WriteSayings(CrashState* state);

// Writer process. Fills in the other threads and lets them go once
// state->may_thaw is set. `self` is the crashed thread.
void WriteSecondStage(CrashState* state);

// Crashed thread: runs the second stage in a writer process and waits for it,
// bounded; where no such process can be had, or it was killed before it came to
// the threads, the crashed thread does what can be done without ptrace. On
// return the other threads are still frozen if the writer is done
// (state->writer_word is kWriterDone) and free in every other case.
void RunWriterProcess(CrashState* state);
// Lets the frozen threads go and waits for the writer's end, bounded.
void EndWriterProcess(CrashState* state);

// Marks the end of the report and gives it its name.
void CloseReport(CrashState* state);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_STAGES_LINUX_H_
