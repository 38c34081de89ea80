// SPDX-License-Identifier: Apache-2.0
//
// Reads of the own address space that may fault, without a system call: one
// copy instruction whose fault our signal handlers know and step over.
//
// Crash time: yes, and only there: while one of our handlers is in place for
// SIGSEGV and SIGBUS and both are deliverable. Works where seccomp refuses
// process_vm_readv and where no descriptor is left. Any thread.
#ifndef CAIRN_SAFE_GUARDED_MEMORY_H_
#define CAIRN_SAFE_GUARDED_MEMORY_H_

#include "safe/memory_reader.h"

namespace cairn::safe {

MemoryReader GuardedReader();

// For signal handlers: if `program_counter` is that of the guarded copy,
// returns the address at which to go on; 0 otherwise.
uint64_t GuardedCopyResume(uint64_t program_counter);

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_GUARDED_MEMORY_H_
