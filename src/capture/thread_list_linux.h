// SPDX-License-Identifier: Apache-2.0
//
// The threads of a process, from /proc.
//
// Crash time: yes. Any thread, any process that may read the other's /proc.
#ifndef CAIRN_CAPTURE_THREAD_LIST_LINUX_H_
#define CAIRN_CAPTURE_THREAD_LIST_LINUX_H_

#include <cstddef>
#include <cstdint>

namespace cairn::capture {

// Adds the ids of `pid`'s threads that are not yet in `ids[0…count)`; returns
// the new count. `*failed` is the errno that ended the reading early, 0 else;
// `*more` counts threads that did not fit.
size_t ListThreads(int32_t pid,
                   int32_t* ids,
                   size_t count,
                   size_t capacity,
                   int* failed,
                   size_t* more);

// The same where /proc is not there: of `known` ids and of those from `pid` to
// `newest` (at most 65536 of them) the ones that tgkill(2) finds in the
// process.
size_t ScanThreads(int32_t pid,
                   int32_t* ids,
                   size_t count,
                   size_t capacity,
                   const int32_t* known,
                   size_t known_count,
                   int32_t newest);

struct ThreadFacts {
  char name[16];  // as prctl(PR_SET_NAME) cut it
  uint32_t name_bytes;
  char state;  // the kernel's letter
  uint64_t cpu_time_ms;
};

// Reads /proc/PID/task/TID/stat. False when the thread is gone or /proc is not
// there.
bool ReadThreadFacts(int32_t pid, int32_t tid, ThreadFacts* out);

// Stack pointer and program counter of a thread that sleeps in the kernel, from
// /proc/PID/task/TID/syscall. False when it runs or may not be asked.
bool ReadSleepingThread(int32_t pid,
                        int32_t tid,
                        uint64_t* stack_pointer,
                        uint64_t* pc);

// Start of a process or thread in clock ticks since boot (stat, field 22); 0
// when unknown.
uint64_t ReadStartTicks(int32_t pid);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_THREAD_LIST_LINUX_H_
