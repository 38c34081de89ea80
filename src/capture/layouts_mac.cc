// SPDX-License-Identifier: Apache-2.0
//
// Our layouts of Apple's structures against Apple's own headers. No code.
#include <mach-o/loader.h>
#include <mach/mach.h>
#include <sys/ucontext.h>

#include "capture/mach_state.h"

namespace cairn::capture::mach {
namespace {

#if defined(__x86_64__)
using Theirs = x86_thread_state64_t;
static_assert(sizeof(Theirs) == sizeof(StateX86_64));
static_assert(x86_THREAD_STATE64 == kFlavorX86_64);
static_assert(x86_THREAD_STATE32 == kFlavorI386);
static_assert(THREAD_STATE_NONE == kFlavorNone);
static_assert(x86_THREAD_STATE64_COUNT == kWords<StateX86_64>);
static_assert(sizeof(x86_thread_state32_t) == sizeof(StateI386));
#define CAIRN_SAME(ours, theirs) \
  static_assert(offsetof(StateX86_64, ours) == offsetof(Theirs, theirs))
CAIRN_SAME(rax, __rax);
CAIRN_SAME(rbx, __rbx);
CAIRN_SAME(rcx, __rcx);
CAIRN_SAME(rdx, __rdx);
CAIRN_SAME(rdi, __rdi);
CAIRN_SAME(rsi, __rsi);
CAIRN_SAME(rbp, __rbp);
CAIRN_SAME(rsp, __rsp);
CAIRN_SAME(r8, __r8);
CAIRN_SAME(r15, __r15);
CAIRN_SAME(rip, __rip);
CAIRN_SAME(rflags, __rflags);
CAIRN_SAME(cs, __cs);
CAIRN_SAME(gs, __gs);
#undef CAIRN_SAME
#define CAIRN_SAME(ours, theirs)             \
  static_assert(offsetof(StateI386, ours) == \
                offsetof(x86_thread_state32_t, theirs))
CAIRN_SAME(eax, __eax);
CAIRN_SAME(esp, __esp);
CAIRN_SAME(ss, __ss);
CAIRN_SAME(eflags, __eflags);
CAIRN_SAME(eip, __eip);
CAIRN_SAME(gs, __gs);
#undef CAIRN_SAME
#else
static_assert(sizeof(arm_thread_state64_t) == sizeof(StateArm64));
static_assert(ARM_THREAD_STATE64 == kFlavorArm64);
static_assert(ARM_THREAD_STATE == kFlavorArm);
static_assert(THREAD_STATE_NONE == kFlavorNoneArm);
static_assert(ARM_THREAD_STATE64_COUNT == kWords<StateArm64>);
static_assert(sizeof(arm_thread_state32_t) == sizeof(StateArm));
static_assert(offsetof(arm_thread_state64_t, __x) == offsetof(StateArm64, x));
static_assert(offsetof(arm_thread_state64_t, __cpsr) ==
              offsetof(StateArm64, cpsr));
#if !__has_feature(ptrauth_calls)
static_assert(offsetof(arm_thread_state64_t, __fp) == offsetof(StateArm64, fp));
static_assert(offsetof(arm_thread_state64_t, __lr) == offsetof(StateArm64, lr));
static_assert(offsetof(arm_thread_state64_t, __sp) == offsetof(StateArm64, sp));
static_assert(offsetof(arm_thread_state64_t, __pc) == offsetof(StateArm64, pc));
#endif
static_assert(offsetof(arm_thread_state32_t, __sp) == offsetof(StateArm, sp));
static_assert(offsetof(arm_thread_state32_t, __cpsr) ==
              offsetof(StateArm, cpsr));
#endif

// capture/macho_image.cc
static_assert(sizeof(mach_header_64) == 32 && MH_MAGIC_64 == 0xfeedfacf);
static_assert(offsetof(mach_header_64, ncmds) == 16);
static_assert(offsetof(mach_header_64, flags) == 24);
static_assert(LC_SEGMENT_64 == 0x19 && LC_UUID == 0x1b);
static_assert(sizeof(segment_command_64) == 72);
static_assert(offsetof(segment_command_64, vmaddr) == 24);
static_assert(offsetof(segment_command_64, initprot) == 60);
static_assert(offsetof(segment_command_64, nsects) == 64);
static_assert(sizeof(section_64) == 80);
static_assert(offsetof(section_64, addr) == 32);
static_assert(sizeof(uuid_command) == 24);
static_assert(VM_PROT_READ == 1 && VM_PROT_WRITE == 2 && VM_PROT_EXECUTE == 4);

}  // namespace
}  // namespace cairn::capture::mach
