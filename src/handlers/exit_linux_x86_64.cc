// SPDX-License-Identifier: Apache-2.0
#include "handlers/exit_linux.h"

#include "handlers/signals_linux.h"
#include "safe/syscall_linux.h"

namespace cairn::handlers {

using safe::AsLong;
using safe::SystemCall;

long QueueDeath(int signal, const void* siginfo) {
  // Blocked first: with the default action in place a pending signal kills at
  // once.
  const uint64_t bit = SignalBit(signal);
  SystemCall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, AsLong(&bit), 0, 8);
  SetAction(signal, KernelAction{kDefaultAction, 0, 0, 0});
  // The kernel lets a process send itself any si_code (kernel/signal.c,
  // do_rt_tgsigqueueinfo).
  long result = SystemCall(SYS_rt_tgsigqueueinfo,
                           safe::ProcessId(),
                           safe::ThreadId(),
                           signal,
                           AsLong(siginfo));
  if (result != 0) {
    result =
        SystemCall(SYS_tgkill, safe::ProcessId(), safe::ThreadId(), signal);
  }
  return result;
}

void ReturnToInterrupted(void* ucontext) {
  // struct rt_sigframe begins with the return address, then the ucontext;
  // sigreturn takes the frame at rsp − 8 (arch/x86/kernel/signal_64.c).
  __asm__ volatile(
      "mov %0, %%rsp\n"
      "mov $15, %%eax\n"
      "syscall\n"
      "hlt\n"
      :
      : "r"(ucontext)
      : "memory");
  __builtin_unreachable();
}

}  // namespace cairn::handlers
