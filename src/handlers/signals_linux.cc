// SPDX-License-Identifier: Apache-2.0
#include "handlers/signals_linux.h"

#include "safe/bytes.h"
#include "safe/syscall_linux.h"

// The bytes of this restorer are those by which debuggers and unwinders know a
// signal frame: mov $15, %rax; syscall (rt_sigreturn is 15 on x86-64).
__asm__(
    ".text\n"
    "  nop\n"
    ".p2align 4\n"
    ".hidden cairn_signal_restorer\n"
    ".globl cairn_signal_restorer\n"
    ".type cairn_signal_restorer, @function\n"
    "cairn_signal_restorer:\n"
    "  mov $15, %rax\n"
    "  syscall\n"
    ".size cairn_signal_restorer, . - cairn_signal_restorer\n");

extern "C" CAIRN_HIDDEN void cairn_signal_restorer();

namespace cairn::handlers {
namespace {

using safe::AsLong;
using safe::SystemCall;

constexpr long kMaskBytes = 8;
constexpr long kSetMask = 2;  // SIG_SETMASK

}  // namespace

long SetAction(int signal, const KernelAction& action) {
  return SystemCall(SYS_rt_sigaction, signal, AsLong(&action), 0, kMaskBytes);
}

long GetAction(int signal, KernelAction* out) {
  return SystemCall(SYS_rt_sigaction, signal, 0, AsLong(out), kMaskBytes);
}

KernelAction HandlerAction(SignalHandler handler,
                           uint64_t flags,
                           uint64_t mask) {
  return {reinterpret_cast<uint64_t>(handler),
          flags | kFlagSiginfo | kFlagRestorer,
          reinterpret_cast<uint64_t>(&cairn_signal_restorer),
          mask};
}

int SignalIndex(int signal) {
  for (size_t i = 0; i < kSignalCount; ++i) {
    if (kSignals[i] == signal) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

int InstallHandlers(CrashState* state, SignalHandler handler) {
  const KernelAction ours =
      HandlerAction(handler,
                    kFlagOnStack | kFlagNoDefer | kFlagTagBits,
                    ~kSynchronousSignals);
  for (size_t i = 0; i < kSignalCount; ++i) {
    GetAction(kSignals[i], &state->earlier[i]);
    const long failed = SetAction(kSignals[i], ours);
    KernelAction now{};
    GetAction(kSignals[i], &now);
    if (failed != 0 || now.handler != ours.handler) {
      for (size_t k = 0; k < i; ++k) {
        SetAction(kSignals[k], state->earlier[k]);
      }
      return failed != 0 ? static_cast<int>(-failed) : -1;
    }
  }
  return 0;
}

void RestoreHandlers(CrashState* state, SignalHandler handler) {
  for (size_t i = 0; i < kSignalCount; ++i) {
    KernelAction now{};
    GetAction(kSignals[i], &now);
    if (now.handler == reinterpret_cast<uint64_t>(handler)) {
      SetAction(kSignals[i], state->earlier[i]);
    }
  }
}

uint64_t SetSignalMask(uint64_t mask) {
  uint64_t former = 0;
  SystemCall(
      SYS_rt_sigprocmask, kSetMask, AsLong(&mask), AsLong(&former), kMaskBytes);
  return former;
}

}  // namespace cairn::handlers
