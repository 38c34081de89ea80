// SPDX-License-Identifier: Apache-2.0
//
// The writer process: a raw clone that shares the memory but not the thread
// group, so that it can stop every thread of it by ptrace, and so that its own
// end changes nothing in the crashed process.
//
//   crashed thread                         writer process
//   clone ────────────────────────────────▶ own signal stack and handlers
//   PR_SET_PTRACER, may_trace = 1 ────────▶ seize, stop, write
//   wait on writer_word ◀────────────────── writer_word = done
//   queue the death, may_thaw = 1 ────────▶ let go, exit
//   wait on writer_word ◀── the kernel writes 0 (CLONE_CHILD_CLEARTID), also
//   when the
//                           writer was killed

#include <sched.h>
#include <sys/wait.h>

#include "capture/context_linux.h"
#include "handlers/signals_linux.h"
#include "handlers/stages_linux.h"
#include "safe/bytes.h"
#include "safe/guarded_memory.h"
#include "safe/syscall_linux.h"

// long cairn_clone_writer(long flags, void* stack_end, uint32_t* word, void
// (*entry)(void*),
//                         void* argument): the child runs entry(argument) on
//                         the stack
// and exits; the parent gets its pid, or −errno.
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".hidden cairn_clone_writer\n"
    ".globl cairn_clone_writer\n"
    ".type cairn_clone_writer, @function\n"
    "cairn_clone_writer:\n"
    ".cfi_startproc\n"
    "  and $-16, %rsi\n"
    "  sub $16, %rsi\n"
    "  mov %rcx, (%rsi)\n"
    "  mov %r8, 8(%rsi)\n"
    "  mov %rdx, %r10\n"  // child tid
    "  xor %edx, %edx\n"  // parent tid
    "  xor %r8d, %r8d\n"  // tls
    "  mov $56, %eax\n"   // clone
    "  syscall\n"
    "  test %rax, %rax\n"
    "  jz 1f\n"
    "  ret\n"
    "1:\n"
    ".cfi_undefined rip\n"
    "  xor %ebp, %ebp\n"
    "  pop %rax\n"
    "  pop %rdi\n"
    "  call *%rax\n"
    "  mov $60, %eax\n"  // exit
    "  xor %edi, %edi\n"
    "  syscall\n"
    "  hlt\n"
    ".cfi_endproc\n"
    ".size cairn_clone_writer, . - cairn_clone_writer\n");

extern "C" CAIRN_HIDDEN long cairn_clone_writer(long flags,
                                                void* stack_end,
                                                uint32_t* word,
                                                void (*entry)(void*),
                                                void* argument);

namespace cairn::handlers {
namespace {

using safe::AsLong;
using safe::SystemCall;

constexpr int kSigAlarm = 14;
constexpr int kSigKill = 9;
constexpr long kWaitAll = 0x40000000;         // __WALL
constexpr long kNoHang = 1;                   // WNOHANG
constexpr long kSetParentDeathSignal = 1;     // PR_SET_PDEATHSIG
constexpr long kGetDumpable = 3;              // PR_GET_DUMPABLE
constexpr long kSetDumpable = 4;              // PR_SET_DUMPABLE
constexpr long kSetPtracer = 0x59616d61;      // PR_SET_PTRACER
constexpr uint64_t kTraceWaitNs = 200000000;  // for the parent's permission
constexpr uint64_t kEndWaitNs = 500000000;    // for the writer's end

struct SignalStack {
  void* base;
  int32_t flags;
  size_t bytes;
};

// A fault in the writer: of a guarded read, or its end. Exiting keeps the
// report as it stands; the kernel lets the frozen threads go.
void OnWriterFault(int signal, void* /*siginfo*/, void* ucontext) {
  if (signal == kSigAlarm) {
    return;
  }
  capture::Registers registers;
  capture::RegistersFromUcontext(ucontext, &registers);
  const uint64_t resume =
      safe::GuardedCopyResume(capture::ProgramCounter(registers));
  if (resume != 0) {
    capture::SetProgramCounter(ucontext, resume);
    return;
  }
  SystemCall(SYS_exit, 1);
}

void PrepareWriterSignals(CrashState* state) {
  const SignalStack stack{
      state->writer_signal_stack, 0, kWriterSignalStackBytes};
  SystemCall(SYS_sigaltstack, AsLong(&stack), 0);
  const KernelAction action =
      HandlerAction(&OnWriterFault, kFlagOnStack | kFlagNoDefer, 0);
  for (int signal : kSignals) {
    SetAction(signal, action);
  }
  SetAction(kSigAlarm, action);
  SetSignalMask(~(kSynchronousSignals | SignalBit(kSigAlarm)));
}

void WriterMain(void* argument) {
  auto* state = static_cast<CrashState*>(argument);
  SystemCall(SYS_prctl, kSetParentDeathSignal, kSigKill);
  PrepareWriterSignals(state);
  const uint64_t deadline = safe::MonotonicNs() + kTraceWaitNs;
  while (__atomic_load_n(&state->may_trace, __ATOMIC_ACQUIRE) == 0 &&
         safe::MonotonicNs() < deadline) {
    safe::FutexWaitUntil(&state->may_trace, 0, deadline);
  }
  WriteSecondStage(state);
}

// True once the writer has ended; false at the deadline.
bool WaitForEnd(CrashState* state, uint64_t deadline_ns) {
  for (;;) {
    const uint32_t word =
        __atomic_load_n(&state->writer_word, __ATOMIC_ACQUIRE);
    if (word == 0) {
      return true;
    }
    safe::FutexWaitUntil(&state->writer_word, word, deadline_ns);
    if (safe::MonotonicNs() >= deadline_ns) {
      return __atomic_load_n(&state->writer_word, __ATOMIC_ACQUIRE) == 0;
    }
  }
}

// Waits for a process of ours that has ended or is about to; bounded, since one
// in an uninterruptible call may not end at all.
void Reap(int32_t process) {
  constexpr int kTries = 100;
  constexpr uint64_t kPauseNs = 1000000;
  uint32_t never = 0;
  for (int i = 0; i < kTries; ++i) {
    if (SystemCall(SYS_wait4, process, 0, kWaitAll | kNoHang, 0) != 0) {
      return;
    }
    safe::FutexWaitUntil(&never, 0, safe::MonotonicNs() + kPauseNs);
  }
}

// Takes over from a writer that cannot go on.
void StopWriter(CrashState* state) {
  SystemCall(SYS_kill, state->writer_process, kSigKill);
  WaitForEnd(state, safe::MonotonicNs() + kEndWaitNs);
  Reap(state->writer_process);
  state->writer_process = 0;
  state->records.Rewind();
}

// Without a writer process: no ptrace, only what threads do when asked and what
// /proc tells.
void RunSecondStageHere(CrashState* state) {
  constexpr int32_t kIdsAhead = 32768;
  state->may_ptrace = false;
  if (state->newest_id == 0) {
    state->newest_id = state->process_id + kIdsAhead;
  }
  state->stage_done_here = false;
  WriteSecondStage(state);
  state->stage_done_here = true;
}

uint64_t LimitNow(const CrashState& state) {
  return state.deadline_ns +
         __atomic_load_n(&state.threads_seen, __ATOMIC_ACQUIRE) *
             state.limits.limit_per_thread_ns;
}

}  // namespace

void RunWriterProcess(CrashState* state) {
  state->writer_word = kWriterRuns;
  state->may_trace = state->may_thaw = state->threads_seen = 0;
  state->timed_out = false;
  state->deadline_ns = safe::MonotonicNs() + state->limits.limit_ns;
  state->may_ptrace = true;
  // Not dumpable means not traceable (ptrace(2)); restored before the death, so
  // that no core appears that would not have. 2 (a core for root alone) could
  // not be restored (prctl(2)), so it stays, and signals do what ptrace may
  // not.
  const long dumpable = SystemCall(SYS_prctl, kGetDumpable);
  if (dumpable == 0) {
    SystemCall(SYS_prctl, kSetDumpable, 1);
  }
  // Exit signal 0. Descriptors are copied, not shared: the writer may then
  // close some to make room, and what it leaves open is gone with it.
  const long flags = CLONE_VM | CLONE_UNTRACED | CLONE_CHILD_CLEARTID;
  const long pid = cairn_clone_writer(flags,
                                      state->writer_stack + kWriterStackBytes,
                                      &state->writer_word,
                                      &WriterMain,
                                      state);
  if (safe::IsError(pid)) {
    state->writer_word = 0;
    state->writer_process = 0;
  } else {
    state->writer_process = static_cast<int32_t>(pid);
    state->newest_id = static_cast<int32_t>(pid);
    SystemCall(SYS_prctl, kSetPtracer, pid);
    __atomic_store_n(&state->may_trace, 1, __ATOMIC_RELEASE);
    safe::FutexWakeAll(&state->may_trace);
    while (__atomic_load_n(&state->writer_word, __ATOMIC_ACQUIRE) ==
           kWriterRuns) {
      safe::FutexWaitUntil(&state->writer_word, kWriterRuns, LimitNow(*state));
      if (safe::MonotonicNs() >= LimitNow(*state)) {
        state->timed_out = __atomic_load_n(&state->writer_word,
                                           __ATOMIC_ACQUIRE) == kWriterRuns;
        break;
      }
    }
    if (state->timed_out) {
      StopWriter(state);
    } else if (__atomic_load_n(&state->writer_word, __ATOMIC_ACQUIRE) == 0) {
      Reap(state->writer_process);
      state->writer_process = 0;
      state->records.Rewind();
    }
  }
  if (dumpable == 0) {
    SystemCall(SYS_prctl, kSetDumpable, 0);
  }
  if (state->writer_process == 0 && !state->timed_out &&
      !state->second_stage_ran) {
    RunSecondStageHere(state);
  }
}

void EndWriterProcess(CrashState* state) {
  CloseParking(state);
  if (state->writer_process == 0) {
    return;
  }
  __atomic_store_n(&state->may_thaw, 1, __ATOMIC_RELEASE);
  safe::FutexWakeAll(&state->may_thaw);
  if (!WaitForEnd(state, safe::MonotonicNs() + kEndWaitNs)) {
    SystemCall(SYS_kill, state->writer_process, kSigKill);
    WaitForEnd(state, safe::MonotonicNs() + kEndWaitNs);
  }
  Reap(state->writer_process);
  state->writer_process = 0;
}

}  // namespace cairn::handlers
