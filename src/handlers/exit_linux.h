// SPDX-License-Identifier: Apache-2.0
//
// How the process dies: by the signal that hit it, with the same siginfo, at
// the same instruction, so that its parent and its core dump see what they
// would have seen.
//
// Crash time: yes.
#ifndef CAIRN_HANDLERS_EXIT_LINUX_H_
#define CAIRN_HANDLERS_EXIT_LINUX_H_

#include <cstdint>

namespace cairn::handlers {

// Sets the default action and queues the signal to the calling thread, where it
// stays pending until the handler returns (it is blocked here). Returns 0 or
// −errno when it could not be queued; a fault then repeats by itself when the
// handler returns.
long QueueDeath(int signal, const void* siginfo);

// Leaves the handler, however deep in it we are, as its return would: registers
// and signal mask become those of the interrupted code.
[[noreturn]] void ReturnToInterrupted(void* ucontext);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_EXIT_LINUX_H_
