// SPDX-License-Identifier: Apache-2.0
#include "capture/freeze_mac.h"

#include "capture/thread_facts_mac.h"
#include "safe/mach_calls_mac.h"

namespace cairn::capture {

// Lists keep their order from round to round, so the place is mostly right.
bool Freeze::Knows(mach_port_t port, size_t guess) const {
  if (guess < count_ && threads_[guess].port == port) {
    return true;
  }
  for (size_t i = 0; i < count_; ++i) {
    if (threads_[i].port == port) {
      return true;
    }
  }
  return false;
}

// The thread is told by its id, not by its port's name: what an exception
// message carries may be another port of the same thread (xnu
// osfmk/kern/exception.c, exception_deliver: a read port where developer mode
// is off).
size_t Freeze::AddNewThreads(size_t round,
                             const uint64_t* ours,
                             size_t our_count,
                             uint64_t running) {
  auto& list = lists_[round];
  const kern_return_t failed =
      task_threads(mach_task_self_, &list.ports, &list.count);
  if (failed != KERN_SUCCESS) {
    error_ = failed;
    list = {};
    return 0;
  }
  size_t added = 0;
  not_listed_ = 0;
  for (mach_msg_type_number_t i = 0; i < list.count; ++i) {
    const mach_port_t port = list.ports[i];
    if (Knows(port, i)) {
      continue;
    }
    const uint64_t id = ThreadIdOf(port);
    bool is_ours = id == 0;
    for (size_t k = 0; k < our_count; ++k) {
      is_ours = is_ours || id == ours[k];
    }
    if (is_ours) {
      continue;
    }
    if (count_ == capacity_) {
      ++not_listed_;
      continue;
    }
    FrozenThread& thread = threads_[count_++];
    thread = {port, 0, id};
    if (id != running && thread_suspend(port) == KERN_SUCCESS) {
      thread.suspended = 1;
      ++suspended_;
    }
    ++added;
  }
  return added;
}

void Freeze::StopAll(const uint64_t* ours, size_t our_count, uint64_t running) {
  for (size_t round = 0; round < kRounds; ++round) {
    if (AddNewThreads(round, ours, our_count, running) == 0) {
      break;
    }
  }
}

void Freeze::Thaw() {
  for (size_t i = 0; i < count_; ++i) {
    if (threads_[i].suspended != 0) {
      thread_resume(threads_[i].port);
      threads_[i].suspended = 0;
    }
  }
  // Each list brought one right for each of its ports.
  for (auto& list : lists_) {
    for (mach_msg_type_number_t i = 0; i < list.count; ++i) {
      mach_port_deallocate(mach_task_self_, list.ports[i]);
    }
    if (list.count != 0) {
      mach_vm_deallocate(mach_task_self_,
                         reinterpret_cast<mach_vm_address_t>(list.ports),
                         list.count * sizeof(mach_port_t));
    }
    list = {};
  }
  count_ = suspended_ = 0;
}

}  // namespace cairn::capture
