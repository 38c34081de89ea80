// SPDX-License-Identifier: Apache-2.0
//
// Suspends the threads of this process, and lets them go again.
//
// Crash time: yes. Runs in a thread of ours that nothing suspends. Between
// StopAll and Thaw nothing may be called that another thread's lock could hold
// up; even the array that task_threads returns is given back only behind the
// thaw, since vm_deallocate was seen to hang (A2.1).
#ifndef CAIRN_CAPTURE_FREEZE_MAC_H_
#define CAIRN_CAPTURE_FREEZE_MAC_H_

#include <mach/mach.h>

#include <cstddef>
#include <cstdint>

namespace cairn::capture {

struct FrozenThread {
  mach_port_t port;
  uint32_t suspended;  // 1: by us
  uint64_t id;
};

class Freeze {
 public:
  // `threads` is storage for `capacity` entries.
  Freeze(FrozenThread* threads, size_t capacity)
      : threads_(threads), capacity_(capacity) {}

  // Lists and suspends until a list shows no new thread, at most eight times
  // (a thread may have been made while others were being stopped, A2.21).
  // Threads of `ours` are not listed at all; `running` (0: none) is listed but
  // not suspended: it waits in an exception, or for us.
  void StopAll(const uint64_t* ours, size_t our_count, uint64_t running);

  // Resumes every thread and gives back every port and array. Safe to call
  // twice.
  void Thaw();

  size_t count() const { return count_; }
  const FrozenThread& at(size_t index) const { return threads_[index]; }
  // kern_return_t of a task_threads that failed; 0.
  int32_t error() const { return error_; }
  size_t not_listed() const { return not_listed_; }
  // How many threads stand still by us.
  size_t suspended() const { return suspended_; }

 private:
  static constexpr size_t kRounds = 8;

  size_t AddNewThreads(size_t round,
                       const uint64_t* ours,
                       size_t our_count,
                       uint64_t running);
  bool Knows(mach_port_t port, size_t guess) const;

  FrozenThread* threads_;
  size_t capacity_;
  size_t count_ = 0;
  size_t suspended_ = 0;
  size_t not_listed_ = 0;
  int32_t error_ = 0;
  struct {
    thread_act_array_t ports;
    mach_msg_type_number_t count;
  } lists_[kRounds] = {};
};

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_FREEZE_MAC_H_
