// SPDX-License-Identifier: Apache-2.0
#include "handlers/mach_fault.h"

namespace cairn::handlers {
namespace {

using format::Architecture;
using format::FaultKind;

constexpr int32_t kBadAccess = 1;
constexpr int64_t kGeneralProtection = 13;  // EXC_I386_GPFLT
constexpr int64_t kDataAlignment = 0x101;   // EXC_ARM_DA_ALIGN
constexpr int64_t kStackAlignment = 0x103;  // EXC_ARM_SP_ALIGN
constexpr uint32_t kProtectionExecute = 4;
constexpr uint32_t kStackTag = 30;  // VM_MEMORY_STACK
constexpr uint64_t kNullPageBytes = 16384;
// Guards are one page, or, below the main stack, tens of megabytes; a frame may
// jump over the first pages of it.
constexpr uint64_t kGuardReach = 1 << 20;

bool IsIntel(const MachFault& fault) {
  return fault.architecture == Architecture::kX86_64 ||
         fault.architecture == Architecture::kI386;
}

bool IsStackGuard(const MachFault& fault) {
  if (fault.stack.high == 0 || fault.address >= fault.stack.low) {
    return false;
  }
  const bool near_stack = fault.stack.low - fault.address <= kGuardReach;
  const bool near_pointer = fault.address + kGuardReach > fault.stack_pointer &&
                            fault.address < fault.stack_pointer + kGuardReach;
  const bool guard =
      !fault.mapped || (fault.protection == 0 && fault.tag == kStackTag);
  return near_pointer && (near_stack || (guard && fault.mapped));
}

}  // namespace

bool HasFaultAddress(const MachFault& fault) {
  return fault.exception == kBadAccess &&
         !(IsIntel(fault) && fault.code == kGeneralProtection);
}

FaultKind ClassifyMachFault(const MachFault& fault) {
  if (fault.exception != kBadAccess) {
    return FaultKind::kNone;
  }
  if (!HasFaultAddress(fault)) {
    return FaultKind::kNonCanonical;
  }
  if (!IsIntel(fault) &&
      (fault.code == kDataAlignment || fault.code == kStackAlignment)) {
    return FaultKind::kMisaligned;
  }
  if (fault.address < kNullPageBytes) {
    return FaultKind::kNullPage;
  }
  if (IsStackGuard(fault)) {
    return FaultKind::kStackGuard;
  }
  if (fault.in_unloaded_image) {
    return FaultKind::kFreedMapping;
  }
  if (!fault.mapped) {
    return FaultKind::kUnmapped;
  }
  return fault.address == fault.program_counter &&
                 (fault.protection & kProtectionExecute) == 0
             ? FaultKind::kNotExecutable
             : FaultKind::kProtected;
}

}  // namespace cairn::handlers
