// SPDX-License-Identifier: Apache-2.0
//
// Reads of a process's memory by process_vm_readv(2): for ordinary code, where
// no handler of ours stands behind a read that faults.
//
// Crash time: yes. Any thread. Where the call is refused every read comes back
// short.
#ifndef CAIRN_SAFE_PROCESS_MEMORY_LINUX_H_
#define CAIRN_SAFE_PROCESS_MEMORY_LINUX_H_

#include "safe/memory_reader.h"

namespace cairn::safe {

// `pid` outlives the reader and names the process: the own one, or one that the
// caller may trace.
MemoryReader ProcessReader(int32_t* pid);

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_PROCESS_MEMORY_LINUX_H_
