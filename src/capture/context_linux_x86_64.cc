// SPDX-License-Identifier: Apache-2.0
#include <ucontext.h>

#include "capture/context_linux.h"
#include "safe/bytes.h"

// Stores rbx, rbp, the caller's rsp behind the call, r12 to r15 and the return
// address: all that a walk of the caller can need (psABI, callee-saved
// registers).
__asm__(
    ".text\n"
    ".hidden cairn_registers_here\n"
    ".globl cairn_registers_here\n"
    ".type cairn_registers_here, @function\n"
    "cairn_registers_here:\n"
    ".cfi_startproc\n"
    "  mov %rbx, (%rdi)\n"
    "  mov %rbp, 8(%rdi)\n"
    "  lea 8(%rsp), %rax\n"
    "  mov %rax, 16(%rdi)\n"
    "  mov %r12, 24(%rdi)\n"
    "  mov %r13, 32(%rdi)\n"
    "  mov %r14, 40(%rdi)\n"
    "  mov %r15, 48(%rdi)\n"
    "  mov (%rsp), %rax\n"
    "  mov %rax, 56(%rdi)\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size cairn_registers_here, . - cairn_registers_here\n");

namespace cairn::capture {
namespace {

// gregs of ucontext (sys/ucontext.h) → the order of format/register_names.h.
constexpr int kGregs[] = {REG_RAX,
                          REG_RDX,
                          REG_RCX,
                          REG_RBX,
                          REG_RSI,
                          REG_RDI,
                          REG_RBP,
                          REG_RSP,
                          REG_R8,
                          REG_R9,
                          REG_R10,
                          REG_R11,
                          REG_R12,
                          REG_R13,
                          REG_R14,
                          REG_R15,
                          REG_RIP,
                          REG_EFL};
constexpr int kGregCount = sizeof(kGregs) / sizeof(kGregs[0]);
constexpr int kCs = 18, kSs = 19, kFsBase = 20, kGsBase = 21;

// struct user_regs_struct (arch/x86/include/asm/user_64.h), by word: r15 r14
// r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp
// ss fs_base gs_base ds es fs gs.
constexpr int kUserRegs[] = {10, 12, 11, 5, 13, 14, 4,  19, 9,  8,  7,
                             6,  3,  2,  1, 0,  16, 18, 17, 20, 21, 22};
constexpr int kUserRegCount = sizeof(kUserRegs) / sizeof(kUserRegs[0]);

}  // namespace

void RegistersFromUcontext(const void* ucontext, Registers* out) {
  *out = {};
  out->architecture = format::Architecture::kX86_64;
  const auto* gregs =
      static_cast<const ucontext_t*>(ucontext)->uc_mcontext.gregs;
  for (int i = 0; i < kGregCount; ++i) {
    out->Set(i, static_cast<uint64_t>(gregs[kGregs[i]]));
  }
  // REG_CSGSFS: cs, gs, fs, ss, 16 bits each.
  const auto segments = static_cast<uint64_t>(gregs[REG_CSGSFS]);
  out->Set(kCs, segments & 0xffff);
  out->Set(kSs, segments >> 48);
}

void RegistersFromUserRegs(const void* user_regs, Registers* out) {
  *out = {};
  out->architecture = format::Architecture::kX86_64;
  static_assert(kGsBase + 1 == kUserRegCount && kFsBase + 1 == kGsBase);
  for (int i = 0; i < kUserRegCount; ++i) {
    uint64_t value;
    safe::Copy(
        &value, static_cast<const uint8_t*>(user_regs) + kUserRegs[i] * 8, 8);
    out->Set(i, value);
  }
}

TrapFacts TrapFromUcontext(const void* ucontext) {
  const auto* gregs =
      static_cast<const ucontext_t*>(ucontext)->uc_mcontext.gregs;
  return {static_cast<uint64_t>(gregs[REG_TRAPNO]),
          static_cast<uint64_t>(gregs[REG_ERR])};
}

void SetProgramCounter(void* ucontext, uint64_t program_counter) {
  static_cast<ucontext_t*>(ucontext)->uc_mcontext.gregs[REG_RIP] =
      static_cast<greg_t>(program_counter);
}

void RegistersFromHere(const uint64_t* here, Registers* out) {
  constexpr int kOrder[] = {3, 6, 7, 12, 13, 14, 15, 16};
  *out = {};
  out->architecture = format::Architecture::kX86_64;
  for (int i = 0; i < 8; ++i) {
    out->Set(kOrder[i], here[i]);
  }
}

}  // namespace cairn::capture
