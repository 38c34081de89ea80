// SPDX-License-Identifier: Apache-2.0
//
// Registers from what the kernel hands out: a signal's ucontext, a stopped
// thread's register set, and the calling function itself.
//
// Crash time: yes.
#ifndef CAIRN_CAPTURE_CONTEXT_LINUX_H_
#define CAIRN_CAPTURE_CONTEXT_LINUX_H_

#include "capture/registers.h"
#include "safe/bytes.h"

extern "C" CAIRN_HIDDEN void cairn_registers_here(uint64_t* out);

namespace cairn::capture {

// `ucontext` is the third argument of a handler installed with SA_SIGINFO.
void RegistersFromUcontext(const void* ucontext, Registers* out);

// `user_regs` is struct user_regs_struct (PTRACE_GETREGSET with NT_PRSTATUS).
inline constexpr size_t kUserRegistersBytes = 27 * 8;
void RegistersFromUserRegs(const void* user_regs, Registers* out);

// Trap number and processor's error code, which the kernel saves beside the
// registers (arch/x86/kernel/signal_64.c).
struct TrapFacts {
  uint64_t trap;
  uint64_t error;
};
TrapFacts TrapFromUcontext(const void* ucontext);

// Makes the thread go on at `program_counter` when the handler returns.
void SetProgramCounter(void* ucontext, uint64_t program_counter);

// The registers that a walk of the calling function needs, as they are behind
// this call. Inlined, so that the walk does not start in a frame that is gone.
void RegistersFromHere(const uint64_t* here, Registers* out);
__attribute__((always_inline)) inline void RegistersHere(Registers* out) {
  uint64_t here[8];
  cairn_registers_here(here);
  RegistersFromHere(here, out);
}

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_CONTEXT_LINUX_H_
