// SPDX-License-Identifier: Apache-2.0
//
// A signal handler returns into a few instructions that call sigreturn. Where
// no unwind table describes them (musl, static programs, the arm64 vDSO), they
// are known by their bytes, and the interrupted registers by the kernel's
// layout of struct ucontext at the stack pointer.
//
// Layouts: arch/x86/include/uapi/asm/sigcontext.h and arch/arm64/include/uapi/
// asm/sigcontext.h of Linux; they are user-space ABI and do not change.
#include "capture/step.h"
#include "safe/bytes.h"

namespace cairn::capture {
namespace {

using format::Architecture;
using format::FrameKind;
using format::FrameTrust;

constexpr size_t kMaxCode = 9;
constexpr size_t kMaxSaved = 34;

struct Trampoline {
  Architecture architecture;
  uint8_t code[kMaxCode];
  size_t code_bytes;
  // Where the saved registers lie, relative to the stack pointer, or to the
  // pointer that stands there.
  bool indirect;
  uint64_t pointer_offset;
  uint64_t offset;
  size_t saved;
  int8_t registers[kMaxSaved];  // in memory order; −1: not of interest
};

constexpr Trampoline kTrampolines[] = {
    // mov $15, %rax; syscall. uc_mcontext at 40: r8 … r15, rdi, rsi, rbp, rbx,
    // rdx, rax, rcx, rsp, rip, eflags.
    {Architecture::kX86_64,
     {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05},
     9,
     false,
     0,
     40,
     18,
     {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16, 17}},
    // mov $173, %eax; int $0x80. The second argument behind the return address
    // is the ucontext; uc_mcontext at 20: gs, fs, es, ds, edi, esi, ebp, esp,
    // ebx, edx, ecx, eax, trapno, err, eip, cs, eflags.
    {Architecture::kI386,
     {0xb8, 0xad, 0x00, 0x00, 0x00, 0xcd, 0x80},
     7,
     true,
     8,
     20,
     17,
     {15, 14, 13, 12, 7, 6, 5, 4, 3, 2, 1, 0, -1, -1, 8, 10, 9}},
    // pop %eax; mov $119, %eax; int $0x80: without SA_SIGINFO. The struct
    // sigcontext stands behind the signal number.
    {Architecture::kI386,
     {0x58, 0xb8, 0x77, 0x00, 0x00, 0x00, 0xcd, 0x80},
     8,
     false,
     0,
     4,
     17,
     {15, 14, 13, 12, 7, 6, 5, 4, 3, 2, 1, 0, -1, -1, 8, 10, 9}},
    // mov x8, #139; svc #0. siginfo of 128 bytes, then uc_mcontext at 176:
    // fault_address, x0 … x30, sp, pc, pstate.
    {Architecture::kArm64,
     {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4},
     8,
     false,
     0,
     128 + 176 + 8,
     34,
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
      17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33}},
};

const Trampoline* TrampolineAt(const WalkState& state, uint64_t address) {
  uint8_t code[kMaxCode] = {};
  const size_t known =
      state.input->memory.ReadSome(address, code, sizeof(code));
  for (const Trampoline& trampoline : kTrampolines) {
    if (trampoline.architecture == state.input->registers->architecture &&
        known >= trampoline.code_bytes &&
        safe::Equal(code, trampoline.code, trampoline.code_bytes)) {
      return &trampoline;
    }
  }
  return nullptr;
}

}  // namespace

StepResult StepByTrampoline(WalkState* state,
                            const FrameState& frame,
                            FrameState* caller) {
  const Trampoline* trampoline =
      TrampolineAt(*state, ProgramCounter(frame.registers));
  if (trampoline == nullptr ||
      !frame.registers.Has(state->roles.stack_pointer)) {
    return StepResult::kNoRule;
  }
  uint64_t base = StackPointer(frame.registers);
  if (trampoline->indirect &&
      !ReadStackPointer(*state, base + trampoline->pointer_offset, &base)) {
    return StepResult::kUnreadable;
  }
  const auto width = static_cast<uint64_t>(state->roles.pointer_bytes);
  caller->registers = frame.registers;
  caller->registers.valid = 0;
  for (size_t i = 0; i < trampoline->saved; ++i) {
    uint64_t value = 0;
    if (!ReadStackPointer(
            *state, base + trampoline->offset + i * width, &value)) {
      return StepResult::kUnreadable;
    }
    if (trampoline->registers[i] >= 0) {
      caller->registers.Set(trampoline->registers[i], value);
    }
  }
  caller->kind = FrameKind::kInterrupted;
  caller->trust = FrameTrust::kCfi;
  return StepResult::kCaller;
}

}  // namespace cairn::capture
