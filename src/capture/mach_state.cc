// SPDX-License-Identifier: Apache-2.0
#include "capture/mach_state.h"

namespace cairn::capture::mach {
namespace {

constexpr unsigned kUsualAddressBits = 47;

void Begin(format::Architecture architecture, Registers* out) {
  *out = {};
  out->architecture = architecture;
}

// Values in the order of format/register_names.h, from 0.
template <typename Word, size_t kCount>
void SetAll(const Word (&values)[kCount], Registers* out) {
  for (size_t i = 0; i < kCount; ++i) {
    out->Set(static_cast<int>(i), values[i]);
  }
}

}  // namespace

uint64_t StripSignature(uint64_t pointer, unsigned address_bits) {
  const unsigned bits =
      address_bits == 0 || address_bits > 63 ? kUsualAddressBits : address_bits;
  return pointer & ((uint64_t{1} << bits) - 1);
}

void RegistersFrom(const StateX86_64& s, Registers* out) {
  Begin(format::Architecture::kX86_64, out);
  const uint64_t values[] = {s.rax,
                             s.rdx,
                             s.rcx,
                             s.rbx,
                             s.rsi,
                             s.rdi,
                             s.rbp,
                             s.rsp,
                             s.r8,
                             s.r9,
                             s.r10,
                             s.r11,
                             s.r12,
                             s.r13,
                             s.r14,
                             s.r15,
                             s.rip,
                             s.rflags,
                             s.cs};
  SetAll(values, out);
}

void RegistersFrom(const StateI386& s, Registers* out) {
  Begin(format::Architecture::kI386, out);
  const uint32_t values[] = {s.eax,
                             s.ecx,
                             s.edx,
                             s.ebx,
                             s.esp,
                             s.ebp,
                             s.esi,
                             s.edi,
                             s.eip,
                             s.eflags,
                             s.cs,
                             s.ss,
                             s.ds,
                             s.es,
                             s.fs,
                             s.gs};
  SetAll(values, out);
}

// The four with a role are addresses of this process and carry signatures on
// arm64e; the others are shown as they are.
void RegistersFrom(const StateArm64& s, unsigned address_bits, Registers* out) {
  Begin(format::Architecture::kArm64, out);
  SetAll(s.x, out);
  const uint64_t roles[] = {s.fp, s.lr, s.sp, s.pc};
  for (int i = 0; i < 4; ++i) {
    out->Set(29 + i, StripSignature(roles[i], address_bits));
  }
  out->Set(33, s.cpsr);
}

void RegistersFrom(const StateArm& s, Registers* out) {
  Begin(format::Architecture::kArm, out);
  SetAll(s.r, out);
  const uint32_t rest[] = {s.sp, s.lr, s.pc, s.cpsr};
  for (int i = 0; i < 4; ++i) {
    out->Set(13 + i, rest[i]);
  }
}

}  // namespace cairn::capture::mach
