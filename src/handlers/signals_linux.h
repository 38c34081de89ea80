// SPDX-License-Identifier: Apache-2.0
//
// Signal dispositions by raw rt_sigaction, past every library that wraps it.
//
// Crash time: yes.
#ifndef CAIRN_HANDLERS_SIGNALS_LINUX_H_
#define CAIRN_HANDLERS_SIGNALS_LINUX_H_

#include <cstdint>

#include "handlers/crash_state.h"

namespace cairn::handlers {

using SignalHandler = void (*)(int, void* siginfo, void* ucontext);

inline constexpr uint64_t kFlagSiginfo = 4;            // SA_SIGINFO
inline constexpr uint64_t kFlagOnStack = 0x08000000;   // SA_ONSTACK
inline constexpr uint64_t kFlagRestart = 0x10000000;   // SA_RESTART
inline constexpr uint64_t kFlagNoDefer = 0x40000000;   // SA_NODEFER
inline constexpr uint64_t kFlagReset = 0x80000000;     // SA_RESETHAND
inline constexpr uint64_t kFlagRestorer = 0x04000000;  // SA_RESTORER
// SA_EXPOSE_TAGBITS, Linux 5.11: ignored by older kernels.
inline constexpr uint64_t kFlagTagBits = 0x00000800;
inline constexpr uint64_t kDefaultAction = 0;
inline constexpr uint64_t kIgnoreAction = 1;

constexpr uint64_t SignalBit(int signal) {
  return uint64_t{1} << (signal - 1);
}
// The signals that a fault of the running code raises; they stay deliverable
// while our handler runs, since a guarded read may raise them.
inline constexpr uint64_t kSynchronousSignals = SignalBit(11) | SignalBit(7) |
                                                SignalBit(4) | SignalBit(8) |
                                                SignalBit(5) | SignalBit(31);

// 0 or −errno.
long SetAction(int signal, const KernelAction& action);
long GetAction(int signal, KernelAction* out);
KernelAction HandlerAction(SignalHandler handler,
                           uint64_t flags,
                           uint64_t mask);

// Index into kSignals, −1 when it is none of ours.
int SignalIndex(int signal);

// Installs `handler` for every signal of kSignals and keeps what was there. 0,
// or the errno of the first that failed (then nothing is installed), or −1 when
// a read-back shows that something else stands there (A1.37).
int InstallHandlers(CrashState* state, SignalHandler handler);
// Puts the earlier actions back where `handler` still stands.
void RestoreHandlers(CrashState* state, SignalHandler handler);

// Blocks or unblocks signals of the calling thread; returns the former mask.
uint64_t SetSignalMask(uint64_t mask);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_SIGNALS_LINUX_H_
