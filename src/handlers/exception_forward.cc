// SPDX-License-Identifier: Apache-2.0
#include "handlers/exception_forward.h"

namespace cairn::handlers {
namespace {

constexpr int64_t kInvalidAddress = 1;           // KERN_INVALID_ADDRESS
constexpr int64_t kGeneralProtection = 13;       // EXC_I386_GPFLT
constexpr int64_t kSoftBadSystemCall = 0x10000;  // EXC_UNIX_BAD_SYSCALL
constexpr int64_t kSoftBadPipe = 0x10001;        // EXC_UNIX_BAD_PIPE
constexpr int64_t kSoftAbort = 0x10002;          // EXC_UNIX_ABORT
constexpr int32_t kSigIll = 4, kSigTrap = 5, kSigAbort = 6, kSigEmt = 7,
                  kSigFpe = 8, kSigKill = 9, kSigBus = 10, kSigSegv = 11,
                  kSigSys = 12, kSigPipe = 13;

int32_t SoftwareSignal(int64_t code) {
  switch (code) {
    case kSoftBadSystemCall:
      return kSigSys;
    case kSoftBadPipe:
      return kSigPipe;
    case kSoftAbort:
      return kSigAbort;
    case kSoftSignal:
      return kSigKill;
    default:
      return 0;
  }
}

}  // namespace

const EarlierPort* FindEarlier(const EarlierPorts& earlier, int32_t exception) {
  if (exception < 0 || exception > 31) {
    return nullptr;
  }
  for (uint32_t i = 0; i < earlier.count && i < kMaxEarlierPorts; ++i) {
    const EarlierPort& port = earlier.ports[i];
    if ((port.mask >> exception & 1) != 0 && port.port != 0 &&
        port.port != ~uint32_t{0}) {
      return &port;
    }
  }
  return nullptr;
}

Forward PlanForward(const EarlierPorts& earlier,
                    int32_t exception,
                    format::Architecture architecture) {
  if (FindEarlier(earlier, exception) == nullptr) {
    return Forward::kNone;
  }
  switch (static_cast<Exception>(exception)) {
    case Exception::kBadAccess:
    case Exception::kBadInstruction:
    case Exception::kArithmetic:
      return Forward::kFaultAgain;
    case Exception::kBreakpoint:
      return architecture == format::Architecture::kX86_64 ||
                     architecture == format::Architecture::kI386
                 ? Forward::kMessage
                 : Forward::kFaultAgain;
    default:
      return Forward::kMessage;
  }
}

bool IsDebuggersSignal(const ExceptionFacts64& facts) {
  return facts.exception == static_cast<int32_t>(Exception::kSoftware) &&
         facts.code_count > 0 && facts.codes[0] == kSoftSignal;
}

int32_t SignalOf(int32_t exception, int64_t code, int64_t /*subcode*/) {
  switch (static_cast<Exception>(exception)) {
    case Exception::kBadAccess:
      // On x86_64 machine_exception() has its say first: a general protection
      // fault is a SIGSEGV (bsd/dev/i386/unix_signal.c).
      return code == kInvalidAddress || code == kGeneralProtection ? kSigSegv
                                                                   : kSigBus;
    case Exception::kBadInstruction:
      return kSigIll;
    case Exception::kArithmetic:
      return kSigFpe;
    case Exception::kEmulation:
      return kSigEmt;
    case Exception::kSoftware:
      return SoftwareSignal(code);
    case Exception::kBreakpoint:
      return kSigTrap;
    case Exception::kGuard:
      return kSigKill;
  }
  return 0;
}

}  // namespace cairn::handlers
