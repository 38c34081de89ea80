// SPDX-License-Identifier: Apache-2.0
//
// Registers of this processor's threads: of one that stands still, of a
// signal's ucontext, of the calling function.
//
// Crash time: yes.
#ifndef CAIRN_CAPTURE_CONTEXT_MAC_H_
#define CAIRN_CAPTURE_CONTEXT_MAC_H_

#include <mach/mach.h>

#include "capture/registers.h"

namespace cairn::capture {

// Set once, at install: how many bits of a pointer are address (arm64); 0:
// unknown.
void SetAddressBits(unsigned bits);

// `thread` is a port with at least read rights; the thread is suspended, waits
// in an exception, or the values are those of one moment in it. False when the
// thread is gone or may not be read.
bool ReadThreadRegisters(mach_port_t thread, Registers* out);

// The third argument of a handler installed with SA_SIGINFO.
void RegistersFromUcontext(const void* ucontext, Registers* out);

// What a walk of the calling function needs, as it is behind this call.
__attribute__((always_inline)) inline void RegistersHere(Registers* out) {
  *out = {};
  uint64_t pc, sp, fp;
#if defined(__x86_64__)
  out->architecture = format::Architecture::kX86_64;
  __asm__ volatile("leaq (%%rip), %0\n movq %%rsp, %1\n movq %%rbp, %2"
                   : "=r"(pc), "=r"(sp), "=r"(fp));
#else
  out->architecture = format::Architecture::kArm64;
  __asm__ volatile("adr %0, .\n mov %1, sp\n mov %2, x29"
                   : "=r"(pc), "=r"(sp), "=r"(fp));
#endif
  const RegisterRoles roles = RolesOf(out->architecture);
  out->Set(roles.program_counter, pc);
  out->Set(roles.stack_pointer, sp);
  out->Set(roles.frame_pointer, fp);
}

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_CONTEXT_MAC_H_
