// SPDX-License-Identifier: Apache-2.0
#include "handlers/fault_kind_linux.h"

#include <signal.h>

#include "capture/context_linux.h"
#include "capture/faulting_operand.h"
#include "capture/memory_map_linux.h"
#include "safe/guarded_memory.h"
#include "safe/syscall_linux.h"

namespace cairn::handlers {
namespace {

using format::FaultKind;

constexpr uint64_t kNullPageBytes = 65536;
// Linux keeps this much below a main stack free of other mappings
// (stack_guard_gap, 256 pages by default).
constexpr uint64_t kGuardGapBytes = 1 << 20;
constexpr uint64_t kTrapProtection = 13;  // #GP: no address is told
constexpr uint64_t kTrapStack = 12;       // #SS: the same of a stack access
constexpr uint64_t kErrorFetch =
    16;                            // page-fault error code: instruction fetch
constexpr int kFromKernel = 0x80;  // SI_KERNEL

bool WasSent(int code) {
  return code <=
         0;  // SI_USER, SI_QUEUE, SI_TKILL …: a process sent it (sigaction(2))
}

// The kernel knows no address; the instruction does.
void DecodeProtectionFault(const capture::Registers& registers,
                           writer::SignalFacts* out) {
  constexpr long kGetFs = 0x1003, kGetGs = 0x1004;  // ARCH_GET_FS, ARCH_GET_GS
  uint64_t fs_base = 0, gs_base = 0;
  safe::SystemCall(SYS_arch_prctl, kGetFs, safe::AsLong(&fs_base));
  safe::SystemCall(SYS_arch_prctl, kGetGs, safe::AsLong(&gs_base));
  const capture::FaultingOperand operand = capture::FindFaultingOperand(
      registers, fs_base, gs_base, safe::GuardedReader());
  switch (operand.fault) {
    case capture::OperandFault::kNonCanonical:
      out->fault_kind = FaultKind::kNonCanonical;
      break;
    case capture::OperandFault::kMisaligned:
      out->fault_kind = FaultKind::kMisaligned;
      break;
    case capture::OperandFault::kUnknown:
    case capture::OperandFault::kNone:
      out->fault_kind = FaultKind::kNone;
      break;
  }
  out->has_fault_address = operand.has_address;
  out->fault_address = operand.address;
}

FaultKind KindByCode(int signal,
                     int code,
                     const writer::SignalFacts& facts,
                     uint64_t pc) {
  if (!facts.has_fault_address) {
    return FaultKind::kNone;
  }
  if (signal == SIGBUS && code == BUS_ADRALN) {
    return FaultKind::kMisaligned;
  }
  if (signal != SIGSEGV && signal != SIGBUS) {
    return FaultKind::kNone;
  }
  if (facts.fault_address < kNullPageBytes) {
    return FaultKind::kNullPage;
  }
  const bool fetch =
      (facts.trap_error & kErrorFetch) != 0 || facts.fault_address == pc;
  if (code == SEGV_ACCERR && signal == SIGSEGV) {
    return fetch ? FaultKind::kNotExecutable : FaultKind::kProtected;
  }
  return FaultKind::kUnmapped;
}

// The stack that `sp` is on, or, after an overflow, the one right above it.
capture::Mapping StackMapping(const capture::Neighbourhood& around,
                              uint64_t sp) {
  const capture::Mapping& holds = around.holds;
  if (holds.found && (holds.flags & 2) != 0) {
    return holds;
  }
  const capture::Mapping& above = around.above;
  if (above.found && (above.flags & 2) != 0 &&
      above.low - sp <= kGuardGapBytes) {
    return above;
  }
  return {};
}

bool InUnloadedImage(const capture::ImageTable& images, uint64_t address) {
  const uint32_t index = images.Find(address);
  return index != capture::kNoImage && images.at(index).unloaded != 0;
}

}  // namespace

void ReadSignalFacts(int signal,
                     const void* siginfo,
                     const void* ucontext,
                     writer::SignalFacts* out) {
  const auto* info = static_cast<const siginfo_t*>(siginfo);
  *out = {};
  out->number = signal;
  out->code = info->si_code;
  out->error = info->si_errno;
  const capture::TrapFacts trap = capture::TrapFromUcontext(ucontext);
  if (WasSent(info->si_code)) {
    out->has_sender = true;
    out->sender_pid = static_cast<uint32_t>(info->si_pid);
    out->sender_uid = info->si_uid;
    return;
  }
  out->has_trap = true;
  out->trap = trap.trap;
  out->trap_error = trap.error;
  if (signal == SIGSYS) {
    out->has_syscall = true;
    out->syscall = info->si_syscall;
    out->has_fault_address = true;
    out->fault_address = reinterpret_cast<uint64_t>(info->si_call_addr);
    return;
  }
  capture::Registers registers;
  capture::RegistersFromUcontext(ucontext, &registers);
  if (info->si_code != kFromKernel && signal != SIGABRT) {
    out->has_fault_address = true;
    out->fault_address = reinterpret_cast<uint64_t>(info->si_addr);
  }
  // 12: the stack pointer itself is no address (#SS).
  if (info->si_code == kFromKernel &&
      (trap.trap == kTrapProtection || trap.trap == kTrapStack)) {
    DecodeProtectionFault(registers, out);
    return;
  }
  out->fault_kind = KindByCode(
      signal, info->si_code, *out, capture::ProgramCounter(registers));
}

void LookAround(const CrashState& state,
                writer::SignalFacts* signal,
                capture::StackBounds* stack) {
  const uint64_t sp = capture::StackPointer(state.registers);
  const uint64_t addresses[2] = {sp, signal->fault_address};
  capture::Neighbourhood around[2];
  if (!capture::FindMappings(state.process_id, addresses, 2, around)) {
    return;
  }
  const capture::Mapping mapping = StackMapping(around[0], sp);
  if (mapping.found) {
    *stack = {mapping.low, mapping.high};
  }
  if (signal->fault_kind != FaultKind::kUnmapped &&
      signal->fault_kind != FaultKind::kProtected) {
    return;
  }
  const uint64_t fault = signal->fault_address;
  // Below the stack's lowest byte and near the stack pointer: a push or a probe
  // went over the end.
  const bool near_sp =
      fault + kGuardGapBytes > sp && fault < sp + kGuardGapBytes;
  const bool below_stack = mapping.found && fault < mapping.low &&
                           mapping.low - fault <= kGuardGapBytes;
  if (near_sp && below_stack) {
    signal->fault_kind = FaultKind::kStackGuard;
  } else if (InUnloadedImage(*state.images, fault)) {
    signal->fault_kind = FaultKind::kFreedMapping;
  }
}

}  // namespace cairn::handlers
