// SPDX-License-Identifier: Apache-2.0
//
// Hardware faults of the program → Mach exceptions → BSD signals.
#ifndef MACH_HOST_KERNEL_EXCEPTIONS_H_
#define MACH_HOST_KERNEL_EXCEPTIONS_H_

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace mach_host {

struct MachException {
  int kind = 0;  // EXC_…
  std::int64_t code = 0, subcode = 0;
  int signal = 0;  // the BSD signal that it becomes when nobody handles it
};

// What xnu makes of a trap (osfmk/i386/trap.c: user_trap;
// bsd/uxkern/ux_exception.c).
MachException Classify(int linux_signal,
                       const siginfo_t& info,
                       const ucontext_t& context);

// Raises it at the thread's, then the task's port (osfmk/kern/exception.c:
// exception_triage). True: a handler returned KERN_SUCCESS, the thread goes on.
bool RaiseException(const MachException& exception, ucontext_t* context);

// Installs the host's handlers for the hardware's signals.
void InstallFaults();

// For programs that end: suspensions and rights that were never given back.
void CheckLeaks();

}  // namespace mach_host

#endif  // MACH_HOST_KERNEL_EXCEPTIONS_H_
