// SPDX-License-Identifier: Apache-2.0
//
// An alternate signal stack for every thread, so that a thread whose stack is
// used up can still report it.
//
// Ordinary code. Stacks are mapped with a guard page below and touched only by
// a crash. A thread that has one of its own keeps it when it is large enough.
#ifndef CAIRN_INTERPOSE_ALTERNATE_STACK_H_
#define CAIRN_INTERPOSE_ALTERNATE_STACK_H_

#include <cstddef>

namespace cairn::interpose {

// Bytes that a handler needs: the kernel's signal frame twice (a guarded read
// may fault inside) and what the first stage was measured to use.
size_t AlternateStackBytes();

// Gives the calling thread a stack, recycled from a thread that is gone or
// mapped new. True when the thread has a sufficient one afterwards.
bool GiveAlternateStack();

// Gives every other thread of the process one, by a directed signal whose
// handler edits the stack that sigreturn restores. Bounded: 100 ms. Returns how
// many threads answered.
size_t GiveAlternateStackToOthers();

}  // namespace cairn::interpose

#endif  // CAIRN_INTERPOSE_ALTERNATE_STACK_H_
