// SPDX-License-Identifier: Apache-2.0
//
// Threads that ptrace could not stop are asked to stop themselves: a directed
// signal whose handler keeps the thread until the report is written.
//
//   crashed thread   OpenParking     the handler stands, nobody is asked
//   writer, or the   AskToPark       one signal a thread; waits, bounded
//   thread itself    FindParked      registers, as the kernel saved them
//   crashed thread   CloseParking    all go on; the former handler stands again
//
// Crash time: yes. A thread that blocks the signal does not answer; it is told
// by other means.
#ifndef CAIRN_HANDLERS_PARK_LINUX_H_
#define CAIRN_HANDLERS_PARK_LINUX_H_

#include <cstddef>
#include <cstdint>

namespace cairn::handlers {

struct CrashState;

// A thread that was asked.
struct ParkRequest {
  int32_t thread_id;
  uint32_t answered;     // 1 once the rest holds
  const void* ucontext;  // on the thread's own stack, valid until it goes on
  char name[16];
};

// `may_go_on`: the process may outlive the report (a live capture, an earlier
// handler that mends). Then the signal is one that nobody else uses. In a
// process that dies it is SIGSETXID, which glibc lets no thread block.
void OpenParking(CrashState* state, bool may_go_on);

// Signals each of `ids` and waits until all have answered or the deadline has
// passed. Returns how many answered.
size_t AskToPark(CrashState* state,
                 const int32_t* ids,
                 size_t count,
                 uint64_t deadline_ns);

// The answer of a thread; null when it gave none.
const ParkRequest* FindParked(const CrashState& state, int32_t thread_id);

// Safe to call when parking is not open.
void CloseParking(CrashState* state);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_PARK_LINUX_H_
