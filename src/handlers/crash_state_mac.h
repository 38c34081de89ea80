// SPDX-License-Identifier: Apache-2.0
//
// Everything a crash needs on Apple systems: the portable state, the ports, the
// signal actions, and room for the thread list.
#ifndef CAIRN_HANDLERS_CRASH_STATE_MAC_H_
#define CAIRN_HANDLERS_CRASH_STATE_MAC_H_

#include <mach/mach.h>
#include <signal.h>

#include "capture/freeze_mac.h"
#include "handlers/crash_base.h"
#include "handlers/exception_forward.h"
#include "handlers/exception_message.h"

namespace cairn::handlers {

inline constexpr int kSignals[] =
    {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
inline constexpr size_t kSignalCount = sizeof(kSignals) / sizeof(kSignals[0]);
inline constexpr size_t kMaxThreads = 16384;
inline constexpr size_t kOwnThreads = 3;  // exceptions, second, background

enum class Phase : uint32_t { kIdle = 0, kWriting = 1, kReported = 2 };

// What a thread that is not stopped by an exception asks the exception thread
// for: a signal's handler, or a capture. It waits, so the pointers stand.
struct Request {
  format::EventKind kind;
  uint64_t thread_id;
  int32_t signal;
  const siginfo_t* siginfo;  // null: a capture
  void* ucontext;
  const char* message;
  size_t message_bytes;
  capture::Registers registers;
  bool written;
};

struct CrashState : CrashBase {
  // --- set by install ---
  mach_port_t server_port, second_port;
  EarlierPorts earlier_ports;
  struct sigaction earlier_actions[kSignalCount];
  uint64_t own_threads[kOwnThreads];  // ids; never suspended
  mach_port_t exception_thread;
  uint32_t ports_set, signals_set;

  // --- the crash ---
  uint32_t phase;  // Phase
  ExceptionFacts64 mach;
  bool has_mach;
  const Request* request;  // null: an exception
  mach_port_t thread;      // of the crashed thread, for its facts
  MessageHeader pending;   // whom to answer if the writing thread cannot
  uint32_t has_pending;
  capture::Freeze freeze{nullptr, 0};

  // --- big, lazily touched ---
  capture::FrozenThread frozen[kMaxThreads];
  alignas(8) uint8_t message[kMaxMessageBytes];
  alignas(8) uint8_t second_message[kMaxMessageBytes];
  alignas(8) uint8_t forward[kMaxMessageBytes];
  alignas(8) uint32_t thread_state[kMaxStateWords];
};

inline CrashState* State() {
  return static_cast<CrashState*>(Base());
}

inline Phase PhaseOf(const CrashState& state) {
  return static_cast<Phase>(__atomic_load_n(&state.phase, __ATOMIC_ACQUIRE));
}
inline void SetPhase(CrashState* state, Phase phase) {
  __atomic_store_n(
      &state->phase, static_cast<uint32_t>(phase), __ATOMIC_RELEASE);
}

// --- report_mac.cc -------------------------------------------------------

// Writes the report of what `state` describes (mach or request, thread,
// registers) and closes it: the crashed thread first, then the others, frozen.
// Exception thread only. The others run again when it returns.
void WriteReport(CrashState* state, uint64_t thread_id);
// Closes a report that another thread had to leave.
void SealReport(CrashState* state, bool timed_out);

// --- signals_mac.cc ------------------------------------------------------

// 0, −1 when something else undid it, or the errno.
int InstallSignals(CrashState* state);
// Puts earlier actions back where ours still stand.
void RestoreSignals(CrashState* state);

// --- exception_server_mac.cc ---------------------------------------------

// Bodies of the two threads; `state` is the argument. They end when told to by
// StopServer's message.
void* ExceptionThread(void* state);
void* SecondThread(void* state);
// Takes the task's exception ports, keeping the earlier ones. False when the
// kernel says no.
bool TakeExceptionPorts(CrashState* state);
void RestoreExceptionPorts(CrashState* state);
void SendStop(mach_port_t port);
// Asks the exception thread for a report and waits, bounded. False when it
// could not be asked or did not answer.
bool AskForReport(CrashState* state, Request* request);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_CRASH_STATE_MAC_H_
