// SPDX-License-Identifier: Apache-2.0
//
// What the kernel tells of a thread, and the label of its dispatch queue.
//
// Crash time: yes. Any thread, about any thread, suspended or not. No lock of
// pthread's or dispatch's is taken: names come from the kernel, labels by
// checked reads.
#ifndef CAIRN_CAPTURE_THREAD_FACTS_MAC_H_
#define CAIRN_CAPTURE_THREAD_FACTS_MAC_H_

#include <mach/mach.h>

#include <cstddef>
#include <cstdint>

#include "capture/unwinder.h"

namespace cairn::capture {

// Where libdispatch says its queues keep their labels
// (`dispatch_queue_offsets`, private/introspection.h); null: labels are not
// read.
void SetDispatchOffsets(const void* offsets);

struct ThreadFacts {
  uint64_t id;
  uint64_t handle;  // pthread_t's address
  char name[64];    // its own, else the queue's label
  size_t name_bytes;
  char state;  // R S D T, 0: unknown
  uint64_t cpu_time_ms;
};

// 0 when the thread is gone.
uint64_t ThreadIdOf(mach_port_t thread);
// False when the thread is gone.
bool ReadThreadFacts(mach_port_t thread, ThreadFacts* out);

// A range of the task's memory with one protection.
struct Region {
  uint64_t low, high;
  uint32_t protection;  // VM_PROT_*
  uint32_t tag;         // VM_MEMORY_*, 0: none
  bool found;
};
// The region that holds `address`, or, with `found` false, the next above it
// (high 0: none).
Region RegionAt(uint64_t address);
// Bounds of the stack that `stack_pointer` is in: its regions joined upwards,
// at most 16. Below a stack pointer that has left its stack the next region
// above is taken. Both 0 when there is none.
StackBounds StackAround(uint64_t stack_pointer);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_THREAD_FACTS_MAC_H_
