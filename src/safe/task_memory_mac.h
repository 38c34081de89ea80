// SPDX-License-Identifier: Apache-2.0
//
// Reads of a task's memory by mach_vm_read_overwrite: the kernel copies into a
// buffer of ours or says no; nothing is mapped, nothing can fault.
//
// Crash time: yes. Any thread; the other threads may be suspended.
#ifndef CAIRN_SAFE_TASK_MEMORY_MAC_H_
#define CAIRN_SAFE_TASK_MEMORY_MAC_H_

#include "safe/memory_reader.h"

namespace cairn::safe {

// This process.
MemoryReader OwnTaskReader();

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_TASK_MEMORY_MAC_H_
