// SPDX-License-Identifier: Apache-2.0
//
// Everything a crash needs, in one mapping made at install. Nothing here is
// allocated, opened or computed at the crash if it could be before.
//
// Install fills it and then only the crash writes to it. A forked child has its
// own copy. The big arrays are touched only as far as they are used.
#ifndef CAIRN_HANDLERS_CRASH_STATE_H_
#define CAIRN_HANDLERS_CRASH_STATE_H_

#include <cstddef>
#include <cstdint>

#include "capture/freeze_linux.h"
#include "capture/image_table.h"
#include "handlers/crash_base.h"
#include "handlers/park_linux.h"

namespace cairn::handlers {

inline constexpr int kSignals[] =
    {11, 7, 4, 8, 6, 5, 31};  // SEGV BUS ILL FPE ABRT TRAP SYS
inline constexpr size_t kSignalCount = sizeof(kSignals) / sizeof(kSignals[0]);
inline constexpr size_t kMaxThreads = 16384;
inline constexpr size_t kMaxKnownThreads = 4096;
inline constexpr size_t kMaxAlsoCrashed = 1024;
inline constexpr size_t kWriterStackBytes = 256 << 10;
inline constexpr size_t kWriterSignalStackBytes = 64 << 10;

// struct sigaction as rt_sigaction(2) takes it.
struct KernelAction {
  uint64_t handler;
  uint64_t flags;
  uint64_t restorer;
  uint64_t mask;
};

// A thread that crashed while another's crash was being handled.
struct AlsoCrashed {
  int32_t thread_id;
  int32_t signal;
  const void* ucontext;
};

struct CrashState : CrashBase {
  // --- set by install ---
  KernelAction earlier[kSignalCount];
  uint32_t images_busy;  // somebody is changing the table
  capture::ProcessVectors vectors;
  // glibc's own last words: a pointer to {unsigned size; char text[]}, or null.
  const uint64_t* abort_message;
  // Threads that interposition has seen start, for when /proc is gone; the last
  // one at each place may have ended since.
  int32_t known_threads[kMaxKnownThreads];

  // --- the crash ---
  uint64_t winner;    // pid << 32 | thread id of who writes; 0: nobody
  uint32_t released;  // rises whenever a winner has let go
  uint32_t nested;    // faults of the winner in our own code
  uint32_t survived;  // reports whose crash an earlier handler undid
  AlsoCrashed also_crashed[kMaxAlsoCrashed];
  uint32_t also_crashed_count;
  int32_t signal;
  const void* siginfo;
  void* ucontext;

  // --- crashed thread and writer process ---
  uint32_t
      writer_word;  // kWriterRuns, kWriterDone; the kernel writes 0 at its end
  uint32_t may_trace;     // set once the writer may trace us
  uint32_t may_thaw;      // set once the death is on its way
  uint32_t threads_seen;  // raises the time limit
  int32_t writer_process;
  int32_t newest_id;      // no thread of ours has a later one
  bool may_ptrace;        // in the writer process
  bool stage_done_here;   // the crashed thread has written it without a writer
  bool second_stage_ran;  // as far as threads, by whomever
  bool said;              // what the app and the runtime told is in the report
  bool threads_written;   // and every thread
  uint64_t deadline_ns;

  // --- threads that stop themselves, see park_linux.h ---
  int32_t park_signal;
  uint32_t park_open;     // 1: threads that are asked stay
  uint32_t park_count;    // how many were asked
  uint32_t park_answers;  // how many of them stay
  KernelAction park_former;

  // --- big, lazily touched ---
  ParkRequest park_requests[kMaxThreads];
  int32_t ids_to_park[kMaxThreads];
  capture::FrozenThread frozen[kMaxThreads];
  int32_t thread_ids[kMaxThreads];
  alignas(64) uint8_t writer_stack[kWriterStackBytes];
  alignas(64) uint8_t writer_signal_stack[kWriterSignalStackBytes];
};

inline constexpr uint32_t kWriterRuns = 1;
inline constexpr uint32_t kWriterDone = 2;

// The state of this process; null before install and after uninstall.
inline CrashState* State() {
  return static_cast<CrashState*>(Base());
}
inline void SetState(CrashState* state) {
  SetBase(state);
}

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_CRASH_STATE_H_
