// SPDX-License-Identifier: Apache-2.0
#include "safe/bytes.h"
#include "safe/guarded_memory.h"

// size_t cairn_guarded_copy(void* to, const void* from, size_t bytes): copies
// and returns how many bytes are left. `rep movsb` keeps rdi, rsi and rcx exact
// when it faults (Intel SDM vol. 2, REP), so a handler that moves rip behind it
// leaves the true remainder in rcx.
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".hidden cairn_guarded_copy\n"
    ".hidden cairn_guarded_copy_fault\n"
    ".hidden cairn_guarded_copy_resume\n"
    ".globl cairn_guarded_copy\n"
    ".globl cairn_guarded_copy_fault\n"
    ".globl cairn_guarded_copy_resume\n"
    ".type cairn_guarded_copy, @function\n"
    "cairn_guarded_copy:\n"
    ".cfi_startproc\n"
    "  mov %rdx, %rcx\n"
    "  cld\n"
    "cairn_guarded_copy_fault:\n"
    "  rep movsb\n"
    "cairn_guarded_copy_resume:\n"
    "  mov %rcx, %rax\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size cairn_guarded_copy, . - cairn_guarded_copy\n");

extern "C" {
CAIRN_HIDDEN size_t cairn_guarded_copy(void* to,
                                       const void* from,
                                       size_t bytes);
CAIRN_HIDDEN extern const char cairn_guarded_copy_fault[];
CAIRN_HIDDEN extern const char cairn_guarded_copy_resume[];
}

namespace cairn::safe {
namespace {

size_t ReadGuarded(void* /*context*/,
                   uint64_t address,
                   void* out,
                   size_t bytes) {
  // The processor raises a general protection fault, without an address, for a
  // non-canonical one; the handler steps over it just the same.
  return bytes -
         cairn_guarded_copy(out, reinterpret_cast<const void*>(address), bytes);
}

}  // namespace

MemoryReader GuardedReader() {
  return {&ReadGuarded, nullptr};
}

uint64_t GuardedCopyResume(uint64_t program_counter) {
  if (program_counter != reinterpret_cast<uint64_t>(cairn_guarded_copy_fault)) {
    return 0;
  }
  return reinterpret_cast<uint64_t>(cairn_guarded_copy_resume);
}

}  // namespace cairn::safe
