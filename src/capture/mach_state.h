// SPDX-License-Identifier: Apache-2.0
//
// Registers as thread_get_state and Apple's mcontext hand them out, as data:
// the layouts are ours, compared with Apple's headers where those are
// (capture/layouts_mac.cc), so that this is built and tested everywhere.
//
// Crash time: yes.
#ifndef CAIRN_CAPTURE_MACH_STATE_H_
#define CAIRN_CAPTURE_MACH_STATE_H_

#include <cstddef>
#include <cstdint>

#include "capture/registers.h"

namespace cairn::capture::mach {

// thread_state_flavor_t (mach/i386/thread_status.h, mach/arm/thread_status.h).
inline constexpr int32_t kFlavorI386 = 1;    // x86_THREAD_STATE32
inline constexpr int32_t kFlavorX86_64 = 4;  // x86_THREAD_STATE64
inline constexpr int32_t kFlavorArm = 1;     // ARM_THREAD_STATE
inline constexpr int32_t kFlavorArm64 = 6;   // ARM_THREAD_STATE64
inline constexpr int32_t kFlavorNone = 13;   // THREAD_STATE_NONE, x86
inline constexpr int32_t kFlavorNoneArm = 5;

struct StateX86_64 {
  uint64_t rax, rbx, rcx, rdx, rdi, rsi, rbp, rsp;
  uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
  uint64_t rip, rflags, cs, fs, gs;
};
struct StateI386 {
  uint32_t eax, ebx, ecx, edx, edi, esi, ebp, esp;
  uint32_t ss, eflags, eip, cs, ds, es, fs, gs;
};
struct StateArm64 {
  uint64_t x[29];
  uint64_t fp, lr, sp, pc;
  uint32_t cpsr, flags;
};
struct StateArm {
  uint32_t r[13];
  uint32_t sp, lr, pc, cpsr;
};
static_assert(sizeof(StateX86_64) == 168);
static_assert(sizeof(StateI386) == 64);
static_assert(sizeof(StateArm64) == 272);
static_assert(sizeof(StateArm) == 68);

// What thread_get_state counts in: 32-bit words.
template <typename State>
inline constexpr uint32_t kWords = sizeof(State) / sizeof(uint32_t);

// Removes a pointer signature (arm64e). Where the kernel says how many bits are
// address, that is `address_bits`; 0: 47, which every release so far leaves
// free of signatures.
uint64_t StripSignature(uint64_t pointer, unsigned address_bits);

void RegistersFrom(const StateX86_64& state, Registers* out);
void RegistersFrom(const StateI386& state, Registers* out);
void RegistersFrom(const StateArm64& state,
                   unsigned address_bits,
                   Registers* out);
void RegistersFrom(const StateArm& state, Registers* out);

}  // namespace cairn::capture::mach

#endif  // CAIRN_CAPTURE_MACH_STATE_H_
