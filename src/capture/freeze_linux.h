// SPDX-License-Identifier: Apache-2.0
//
// Stops the threads of another process by ptrace, and lets them go again.
//
// Crash time: yes. Runs in the writer process, which shares the memory but is
// no thread of the target. Whoever dies while holding stopped threads lets them
// go: the kernel detaches a dead tracer's tracees.
#ifndef CAIRN_CAPTURE_FREEZE_LINUX_H_
#define CAIRN_CAPTURE_FREEZE_LINUX_H_

#include <cstddef>
#include <cstdint>

#include "capture/registers.h"

namespace cairn::capture {

struct FrozenThread {
  int32_t id;
  int32_t seized;      // 1 once PTRACE_SEIZE succeeded
  int32_t stopped;     // 1 once its stop was seen
  int32_t group_stop;  // 1: job control had stopped it already
  int32_t
      signal;  // delivered when let go: it was on its way when we stopped it
};

// Where threads are looked for when the kernel's list cannot be read.
struct ThreadHints {
  const int32_t* known;  // ids, 0 where there is none
  size_t known_count;
  int32_t newest_id;  // ids from the process's own to this one are tried
};

class Freeze {
 public:
  // `threads` is storage for `capacity` entries; `ids` scratch of the same
  // size.
  Freeze(int32_t pid, FrozenThread* threads, int32_t* ids, size_t capacity);

  // Seizes and stops every thread but `except`, then lists again until no new
  // thread shows up (at most eight rounds). Returns when all have stopped or
  // the deadline has passed; threads that did not stop are left running (a
  // thread in a vfork wait stops only when its child ends).
  void StopAll(int32_t except, uint64_t deadline_ns, const ThreadHints& hints);
  // Lists the threads without stopping any: for a thread of the target itself.
  void ListAll(const ThreadHints& hints);

  // Lets every thread go. Safe to call twice.
  void Thaw();

  size_t count() const { return count_; }
  const FrozenThread& at(size_t index) const { return threads_[index]; }
  // A signal that some thread raised was on its way when it was stopped: 0 or
  // its number.
  int PendingFault(size_t index) const;
  // errno of the first refused seize, or of the thread list; 0 when all went
  // well.
  int error() const { return error_; }
  size_t not_listed() const { return not_listed_; }

  // `state`: 'S' when the thread is inside a system call, else 'R', 'T' when it
  // had been stopped before us.
  bool ReadRegisters(size_t index, Registers* out, char* state) const;

 private:
  size_t List(const ThreadHints& hints);
  size_t SeizeNewThreads(int32_t except, const ThreadHints& hints);
  void WaitForStops(size_t first, uint64_t deadline_ns);
  void WaitByAsking(uint64_t deadline_ns);
  void NoteStop(int32_t id, int status, size_t guess);

  int32_t pid_;
  FrozenThread* threads_;
  int32_t* ids_;
  size_t capacity_;
  size_t count_ = 0;
  size_t waiting_ = 0;
  size_t not_listed_ = 0;
  int error_ = 0;
};

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_FREEZE_LINUX_H_
