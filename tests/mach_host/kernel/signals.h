// SPDX-License-Identifier: Apache-2.0
//
// BSD signals of the simulated process (xnu bsd/kern/kern_sig.c,
// bsd/dev/i386/unix_signal.c for the frame).
#ifndef MACH_HOST_KERNEL_SIGNALS_H_
#define MACH_HOST_KERNEL_SIGNALS_H_

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "../darwin.h"

namespace mach_host {

int LinuxSignal(int darwin_signal);  // 0: none
int DarwinSignal(int linux_signal);  // 0: none

// Gives the signal to the program's handler by a frame on its stack, or ends
// the process by the signal. `context` is the host signal's.
void DeliverSignal(int darwin_signal,
                   const darwin::SigInfo& info,
                   ucontext_t* context,
                   bool hardware);

void InstallSignals();

}  // namespace mach_host

#endif  // MACH_HOST_KERNEL_SIGNALS_H_
