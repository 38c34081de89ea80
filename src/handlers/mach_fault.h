// SPDX-License-Identifier: Apache-2.0
//
// What a Mach bad access means: whether its address is one, and what stands
// there.
//
// Crash time: yes. Plain data; no call.
#ifndef CAIRN_HANDLERS_MACH_FAULT_H_
#define CAIRN_HANDLERS_MACH_FAULT_H_

#include <cstdint>

#include "capture/unwinder.h"
#include "format/report_format.h"

namespace cairn::handlers {

struct MachFault {
  int32_t exception;
  int64_t code;
  uint64_t address;  // the subcode
  format::Architecture architecture;
  uint64_t program_counter, stack_pointer;
  // The region that holds the address, if any.
  bool mapped;
  uint32_t protection;         // VM_PROT_*
  uint32_t tag;                // VM_MEMORY_*
  capture::StackBounds stack;  // of the thread; both 0: unknown
  bool in_unloaded_image;
};

// kNone for anything but a bad access. An overflow is told by the thread's own
// stack, never by the signal: the kernel makes SIGSEGV of it on the main thread
// and SIGBUS on all others.
format::FaultKind ClassifyMachFault(const MachFault& fault);

// True when the subcode of the exception is an address.
bool HasFaultAddress(const MachFault& fault);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_MACH_FAULT_H_
