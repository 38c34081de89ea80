// SPDX-License-Identifier: Apache-2.0
//
// The flow of a crash:
//
//   OnSignal
//     guarded read?          → go on behind it
//     chain-first?           → RunEarlier, and back if it took care
//     BecomeWinner           → losers Park until the winner lets go
//     Report                 → OpenReport · WriteFirstStage · on_crash ·
//     RunWriterProcess QueueDeath             → pending until we return
//     EndWriterProcess       → thaw
//     CloseReport            → seal, cut, rename
//     return                 → the signal kills
//
// A second fault of the same thread inside all this ends the writing:
// FinishNested.

#include "handlers/crash_entry.h"

#include <signal.h>

#include "capture/context_linux.h"
#include "handlers/exit_linux.h"
#include "handlers/signals_linux.h"
#include "handlers/stages_linux.h"
#include "safe/bytes.h"
#include "safe/guarded_memory.h"
#include "safe/syscall_linux.h"
#include "writer/report_records.h"

namespace cairn::handlers {
namespace {

using safe::SystemCall;

// Reports of crashes that an earlier handler undid, a run; behind that it is
// left alone.
constexpr uint32_t kMaxSurvived = 5;
// Room behind a closed report for "survived": a group with one small record.
constexpr size_t kLastWordBytes = 64;
constexpr uint64_t kParkExtraNs = 5000000000ull;

// What <cairn/cairn.h> calls cairn_crash_info.
struct CrashInfo {
  size_t struct_size;
  int signal_number;
  int signal_code;
  uint64_t fault_address;
  const void* ucontext;
};

uint64_t WhoAmI() {
  return static_cast<uint64_t>(safe::ProcessId()) << 32 |
         static_cast<uint32_t>(safe::ThreadId());
}

// The winner of a parent process means nothing in its forked child.
bool BecomeWinner(CrashState* state, uint64_t me) {
  uint64_t current = __atomic_load_n(&state->winner, __ATOMIC_ACQUIRE);
  if (current != 0 && current >> 32 == me >> 32) {
    return false;
  }
  return __atomic_compare_exchange_n(
      &state->winner, &current, me, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void LetGo(CrashState* state) {
  state->nested = 0;
  __atomic_store_n(&state->also_crashed_count, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&state->winner, 0, __ATOMIC_RELEASE);
  __atomic_add_fetch(&state->released, 1, __ATOMIC_ACQ_REL);
  safe::FutexWakeAll(&state->released);
}

// Another thread's crash is being written. Waits for its end: usually that of
// the process. Returns when the winner has let go, or, at the deadline, false.
bool Park(CrashState* state, int signal, void* ucontext) {
  const uint32_t released = __atomic_load_n(&state->released, __ATOMIC_ACQUIRE);
  const uint32_t index =
      __atomic_fetch_add(&state->also_crashed_count, 1, __ATOMIC_ACQ_REL);
  if (index < kMaxAlsoCrashed) {
    state->also_crashed[index].signal = signal;
    state->also_crashed[index].ucontext = ucontext;
    __atomic_store_n(&state->also_crashed[index].thread_id,
                     safe::ThreadId(),
                     __ATOMIC_RELEASE);
  }
  const uint64_t deadline =
      safe::MonotonicNs() + state->limits.limit_ns + kParkExtraNs +
      kMaxThreads * state->limits.limit_per_thread_ns / 16;
  while (__atomic_load_n(&state->winner, __ATOMIC_ACQUIRE) != 0) {
    if (__atomic_load_n(&state->released, __ATOMIC_ACQUIRE) != released) {
      return true;
    }
    safe::FutexWaitUntil(&state->released, released, deadline);
    if (safe::MonotonicNs() >= deadline) {
      return false;
    }
  }
  return true;
}

bool IsFunction(const KernelAction& action) {
  return action.handler != kDefaultAction && action.handler != kIgnoreAction;
}

// Calls the handler that stood there before us, with its own arguments.
void RunEarlier(CrashState* state,
                int index,
                int signal,
                void* siginfo,
                void* ucontext) {
  KernelAction& earlier = state->earlier[index];
  const uint64_t handler = earlier.handler;
  if ((earlier.flags & kFlagReset) != 0) {
    earlier.handler = kDefaultAction;
  }
  if ((earlier.flags & kFlagSiginfo) != 0) {
    reinterpret_cast<SignalHandler>(handler)(signal, siginfo, ucontext);
  } else {
    reinterpret_cast<void (*)(int)>(handler)(signal);
  }
}

bool SameRegisters(const capture::Registers& left,
                   const capture::Registers& right) {
  return left.valid == right.valid &&
         safe::Equal(left.values, right.values, sizeof(left.values));
}

// Whether the process dies although the earlier handler came back: it has set
// the default action and raised the signal again, or left the fault to repeat;
// or abort(3) goes on, which nothing survives.
bool StillDies(int signal,
               const void* siginfo,
               const void* ucontext,
               const capture::Registers& before) {
  const auto* info = static_cast<const siginfo_t*>(siginfo);
  if (signal == SIGABRT && info->si_code <= 0 &&
      info->si_pid == safe::ProcessId()) {
    return true;
  }
  KernelAction now{};
  GetAction(signal, &now);
  if (now.handler != kDefaultAction) {
    return false;
  }
  uint64_t pending = 0;
  SystemCall(SYS_rt_sigpending, safe::AsLong(&pending), 8);
  capture::Registers after;
  capture::RegistersFromUcontext(ucontext, &after);
  return (pending & SignalBit(signal)) != 0 ||
         (info->si_code > 0 && SameRegisters(before, after));
}

// Chain-first: whether the earlier handler has mended the fault. Its signal is
// blocked meanwhile, as the kernel would have it: one that sets the default
// action and raises the signal again (Mono does so) then comes back, and the
// crash is reported before it dies.
bool EarlierTakesCare(CrashState* state,
                      int index,
                      int signal,
                      void* siginfo,
                      void* ucontext,
                      const capture::Registers& before) {
  const uint64_t bit = SignalBit(signal);
  uint64_t mask = 0;
  if ((state->earlier[index].flags & kFlagNoDefer) == 0) {
    SystemCall(SYS_rt_sigprocmask,
               0 /* SIG_BLOCK */,
               safe::AsLong(&bit),
               safe::AsLong(&mask),
               8);
  }
  RunEarlier(state, index, signal, siginfo, ucontext);
  KernelAction now{};
  GetAction(signal, &now);
  capture::Registers after;
  capture::RegistersFromUcontext(ucontext, &after);
  const bool mended =
      now.handler != kDefaultAction && !SameRegisters(before, after);
  if ((state->earlier[index].flags & kFlagNoDefer) == 0) {
    if (!mended) {
      // What it has raised would end the process before the report.
      const uint64_t no_wait[2] = {0, 0};
      SystemCall(
          SYS_rt_sigtimedwait, safe::AsLong(&bit), 0, safe::AsLong(no_wait), 8);
    }
    SetSignalMask(mask);
  }
  return mended;
}

// A guarded read needs our own handler: the app may have replaced it since.
void StandGuard(KernelAction former[2]) {
  const KernelAction ours =
      HandlerAction(&OnSignal,
                    kFlagOnStack | kFlagNoDefer | kFlagTagBits,
                    ~kSynchronousSignals);
  for (int i = 0; i < 2; ++i) {
    GetAction(kSignals[i], &former[i]);
    if (former[i].handler != ours.handler) {
      SetAction(kSignals[i], ours);
    }
  }
  constexpr uint64_t kNeeded = SignalBit(SIGSEGV) | SignalBit(SIGBUS);
  SystemCall(
      SYS_rt_sigprocmask, 1 /* SIG_UNBLOCK */, safe::AsLong(&kNeeded), 0, 8);
}

void CallBack(CrashState* state) {
  if (state->on_crash == nullptr) {
    return;
  }
  const auto* info = static_cast<const siginfo_t*>(state->siginfo);
  const CrashInfo facts{
      sizeof(CrashInfo),
      state->signal,
      info->si_code,
      info->si_code > 0 ? reinterpret_cast<uint64_t>(info->si_addr) : 0,
      state->ucontext};
  state->on_crash(&facts, state->on_crash_context);
}

void Begin(CrashState* state, bool may_go_on) {
  state->entered_ns = safe::MonotonicNs();
  state->crashed_thread = safe::ThreadId();
  state->process_id = safe::ProcessId();
  state->foreign_process =
      static_cast<uint32_t>(state->process_id) != state->installer.pid;
  state->writer_process = 0;
  state->slot = nullptr;
  state->stack = {0, 0};
  state->timed_out = false;
  state->second_stage_ran = state->stage_done_here = false;
  state->said = state->threads_written = false;
  state->newest_id = 0;
  OpenParking(state, may_go_on);
}

// The stage marker of a report whose second stage failed.
void WriteFailedStage(CrashState* state) {
  state->records.Reserve(0);
  writer::PutStage(&state->records,
                   {1,
                    format::FrozenBy::kNone,
                    0,
                    safe::MonotonicNs() - state->entered_ns,
                    state->timed_out});
  if (state->timed_out) {
    writer::PutCut(&state->records, format::CutWhat::kTime, 1, 0, 0);
  }
  state->records.Commit();
}

// First and second stage. On return other threads may be frozen.
void Report(CrashState* state, const Occasion& occasion) {
  if (!OpenReport(state)) {
    return;
  }
  WriteFirstStage(state, occasion);
  if (state->stop_point == StopPoint::kAfterFirstStage) {
    return;
  }
  if (state->siginfo != nullptr) {
    CallBack(state);
  }
  RunWriterProcess(state);
  if (state->writer_process == 0 && !state->stage_done_here) {
    if (!state->said) {
      WriteSayings(state);
    }
    if (state->threads_written) {
      // The writer ended, or was ended, over what registers point at.
      writer::PutCut(&state->records,
                     format::CutWhat::kMemoryBytes,
                     state->memory_bytes,
                     0,
                     0);
      state->records.Commit();
    } else {
      WriteFailedStage(state);
    }
  }
}

// A fault in our own code, or in the app's callback: what is committed stands.
[[noreturn]] void FinishNested(CrashState* state) {
  if (state->slot != nullptr && state->nested == 1) {
    state->records.Rewind();
    if (state->writer_process == 0 &&
        state->stop_point != StopPoint::kAfterFirstStage) {
      // The fault was in the first stage or in the callback: the others are
      // still worth having.
      RunWriterProcess(state);
    }
    CloseReport(state);
    QueueDeath(state->signal, state->siginfo);
    EndWriterProcess(state);
  } else {
    QueueDeath(state->signal, state->siginfo);
    EndWriterProcess(state);
  }
  ReturnToInterrupted(state->ucontext);
}

bool KernelWouldIgnore(const CrashState& state,
                       int index,
                       const siginfo_t& info) {
  return state.earlier[index].handler == kIgnoreAction && info.si_code <= 0;
}

}  // namespace

void OnSignal(int signal, void* siginfo, void* ucontext) {
  CrashState* state = State();
  capture::Registers registers;
  capture::RegistersFromUcontext(ucontext, &registers);
  const uint64_t resume =
      safe::GuardedCopyResume(capture::ProgramCounter(registers));
  if (resume != 0) {
    capture::SetProgramCounter(ucontext, resume);
    return;
  }
  const int index = SignalIndex(signal);
  if (state == nullptr || index < 0) {
    QueueDeath(signal, siginfo);
    return;
  }
  if (KernelWouldIgnore(
          *state, index, *static_cast<const siginfo_t*>(siginfo))) {
    return;
  }
  const bool has_earlier = IsFunction(state->earlier[index]);
  if (state->chain_first && has_earlier &&
      EarlierTakesCare(state, index, signal, siginfo, ucontext, registers)) {
    return;
  }
  const uint64_t me = WhoAmI();
  if (__atomic_load_n(&state->winner, __ATOMIC_ACQUIRE) == me) {
    ++state->nested;
    FinishNested(state);
  }
  while (!BecomeWinner(state, me)) {
    if (!Park(state, signal, ucontext)) {
      QueueDeath(signal, siginfo);
      return;
    }
  }
  const bool may_survive = has_earlier && !state->chain_first;
  Begin(state, may_survive);
  state->signal = signal;
  state->siginfo = siginfo;
  state->ucontext = ucontext;
  state->registers = registers;
  KernelAction former[2];
  StandGuard(former);
  if (!may_survive || state->survived < kMaxSurvived) {
    Report(state, {format::EventKind::kCrash, nullptr, 0});
  }
  if (!may_survive) {
    // Closed while the others are frozen: once the default action stands, any
    // of them may end the process by a fault of its own.
    if (state->slot != nullptr) {
      CloseReport(state);
    }
    QueueDeath(signal, siginfo);
    EndWriterProcess(state);
    return;
  }
  // The earlier handler decides; nothing of ours may stand in its way, so the
  // report is closed before. If it comes back the crash was survived, and a
  // last word says so.
  EndWriterProcess(state);
  for (int i = 0; i < 2; ++i) {
    SetAction(kSignals[i], former[i]);
  }
  writer::Slot* slot = state->slot;
  writer::RecordWriter records = state->records;
  if (slot != nullptr) {
    writer::FinishSlot(slot, state->slot_spec.directory, kLastWordBytes);
  }
  ++state->survived;
  LetGo(state);
  RunEarlier(state, index, signal, siginfo, ucontext);
  if (slot != nullptr && !StillDies(signal, siginfo, ucontext, registers)) {
    writer::PutEventKind(&records, format::EventKind::kSurvived);
    records.Commit();
  }
}

bool CaptureNow(CrashState* state, const char* message, size_t message_bytes) {
  const uint64_t mask = SetSignalMask(~kSynchronousSignals);
  const bool won = BecomeWinner(state, WhoAmI());
  bool written = false;
  if (won) {
    Begin(state, true);
    state->signal = 0;
    state->siginfo = nullptr;
    state->ucontext = nullptr;
    capture::RegistersHere(&state->registers);
    KernelAction former[2];
    StandGuard(former);
    Report(state, {format::EventKind::kCapture, message, message_bytes});
    EndWriterProcess(state);
    for (int i = 0; i < 2; ++i) {
      SetAction(kSignals[i], former[i]);
    }
    written = state->slot != nullptr;
    if (written) {
      CloseReport(state);
    }
    LetGo(state);
  }
  SetSignalMask(mask);
  return written;
}

}  // namespace cairn::handlers
