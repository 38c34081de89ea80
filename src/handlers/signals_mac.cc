// SPDX-License-Identifier: Apache-2.0
//
// BSD signals: what is no Mach exception, such as abort() and kill(). A fault
// comes here only when nobody took its exception; by then the earlier actions
// are back in place, so nothing is reported twice.
//
//   OnSignal (crashed thread, perhaps without a sound stack or thread data)
//     → a message to the exception thread, which writes the report
//     → the earlier handler, or the signal once more with its default action
#include <mach/mach.h>
#include <unistd.h>

#include "capture/context_mac.h"
#include "capture/thread_facts_mac.h"
#include "handlers/crash_state_mac.h"
#include "safe/bytes.h"

namespace cairn::handlers {
namespace {

void OnSignal(int signal, siginfo_t* siginfo, void* ucontext);

int IndexOf(int signal) {
  for (size_t i = 0; i < kSignalCount; ++i) {
    if (kSignals[i] == signal) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 &&
         action.sa_sigaction == &OnSignal;
}

bool IsFunction(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

uint64_t OwnThreadId() {
  const mach_port_t self = mach_thread_self();
  const uint64_t id = capture::ThreadIdOf(self);
  mach_port_deallocate(mach_task_self_, self);
  return id;
}

void Report(CrashState* state, int signal, siginfo_t* siginfo, void* ucontext) {
  Request request = {};
  request.kind = format::EventKind::kCrash;
  request.thread_id = OwnThreadId();
  request.signal = signal;
  request.siginfo = siginfo;
  request.ucontext = ucontext;
  capture::RegistersFromUcontext(ucontext, &request.registers);
  AskForReport(state, &request);
}

// The signal is blocked while we run: what is sent here waits for our return.
void DieBy(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  kill(getpid(), signal);
}

void OnSignal(int signal, siginfo_t* siginfo, void* ucontext) {
  CrashState* state = State();
  const int index = IndexOf(signal);
  if (state == nullptr || index < 0) {
    DieBy(signal);
    return;
  }
  if (PhaseOf(*state) != Phase::kReported) {
    Report(state, signal, siginfo, ucontext);
  }
  const struct sigaction earlier = state->earlier_actions[index];
  if (!IsFunction(earlier)) {
    DieBy(signal);
  } else if ((earlier.sa_flags & SA_SIGINFO) != 0) {
    earlier.sa_sigaction(signal, siginfo, ucontext);
  } else {
    earlier.sa_handler(signal);
  }
}

}  // namespace

int InstallSignals(CrashState* state) {
  struct sigaction ours = {};
  ours.sa_sigaction = &OnSignal;
  // SA_ONSTACK always: without it the kernel forces the default action on the
  // main thread's overflow, and runtimes with small stacks refuse the handler.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (size_t i = 0; i < kSignalCount; ++i) {
    struct sigaction now = {};
    if (sigaction(kSignals[i], &ours, &state->earlier_actions[i]) != 0 ||
        sigaction(kSignals[i], nullptr, &now) != 0 || !IsOurs(now)) {
      for (size_t k = 0; k < i; ++k) {
        sigaction(kSignals[k], &state->earlier_actions[k], nullptr);
      }
      return -1;
    }
  }
  state->signals_set = 1;
  return 0;
}

void RestoreSignals(CrashState* state) {
  if (state->signals_set == 0) {
    return;
  }
  state->signals_set = 0;
  for (size_t i = 0; i < kSignalCount; ++i) {
    struct sigaction now = {};
    if (sigaction(kSignals[i], nullptr, &now) == 0 && IsOurs(now)) {
      sigaction(kSignals[i], &state->earlier_actions[i], nullptr);
    }
  }
}

}  // namespace cairn::handlers
