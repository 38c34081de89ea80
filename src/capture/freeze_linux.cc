// SPDX-License-Identifier: Apache-2.0
#include "capture/freeze_linux.h"

#include <sys/ptrace.h>

#include "capture/context_linux.h"
#include "capture/thread_list_linux.h"
#include "safe/bytes.h"
#include "safe/syscall_linux.h"

namespace cairn::capture {
namespace {

using safe::AsLong;
using safe::SystemCall;

constexpr int kRounds = 8;
constexpr long kWaitAll = 0x40000000;  // __WALL
constexpr int kErrnoNoSuchProcess = 3;
constexpr int kErrnoInterrupted = 4;
constexpr int kEventStop = 128;  // PTRACE_EVENT_STOP
constexpr long kNtPrstatus = 1;
// orig_rax: the number of the system call that the thread is in, −1 outside.
constexpr size_t kSystemCallWord = 15;
constexpr int kSigTrap = 5;

// SEGV BUS ILL FPE TRAP SYS: what the running code raises.
bool IsFault(int signal) {
  return signal == 11 || signal == 7 || signal == 4 || signal == 8 ||
         signal == 5 || signal == 31;
}

struct IoVector {
  void* base;
  size_t bytes;
};

struct IntervalTimer {
  int64_t interval_s, interval_us, value_s, value_us;
};

// Interrupts a blocking wait once, at the deadline and every 10 ms behind it.
// The timer is this process's own, and its SIGALRM handler does nothing.
void ArmTimer(uint64_t deadline_ns) {
  const uint64_t now = safe::MonotonicNs();
  const uint64_t left_us =
      deadline_ns > now ? (deadline_ns - now) / 1000 + 1 : 1;
  const IntervalTimer timer{0,
                            10000,
                            static_cast<int64_t>(left_us / 1000000),
                            static_cast<int64_t>(left_us % 1000000)};
  SystemCall(SYS_setitimer, 0, AsLong(&timer), 0);
}

void DisarmTimer() {
  const IntervalTimer timer{};
  SystemCall(SYS_setitimer, 0, AsLong(&timer), 0);
}

}  // namespace

Freeze::Freeze(int32_t pid,
               FrozenThread* threads,
               int32_t* ids,
               size_t capacity)
    : pid_(pid), threads_(threads), ids_(ids), capacity_(capacity) {}

// Adds threads that are not known yet; returns how many there were before.
size_t Freeze::List(const ThreadHints& hints) {
  int failed = 0;
  size_t more = 0;
  const size_t before = count_;
  size_t listed = ListThreads(pid_, ids_, before, capacity_, &failed, &more);
  if (failed != 0 && error_ == 0) {
    error_ = failed;
  }
  if (failed != 0 && listed == before) {
    listed = ScanThreads(pid_,
                         ids_,
                         before,
                         capacity_,
                         hints.known,
                         hints.known_count,
                         hints.newest_id);
  }
  not_listed_ = more;
  for (size_t i = before; i < listed; ++i) {
    threads_[count_] = {ids_[i], 0, 0, 0, 0};
    ++count_;
  }
  return before;
}

void Freeze::ListAll(const ThreadHints& hints) {
  List(hints);
}

size_t Freeze::SeizeNewThreads(int32_t except, const ThreadHints& hints) {
  const size_t known = List(hints);
  size_t added = 0;
  for (size_t i = known; i < count_; ++i) {
    FrozenThread& thread = threads_[i];
    if (thread.id == except) {
      continue;
    }
    long result = SystemCall(SYS_ptrace, PTRACE_SEIZE, thread.id, 0, 0);
    if (result == 0) {
      thread.seized = 1;
      result = SystemCall(SYS_ptrace, PTRACE_INTERRUPT, thread.id, 0, 0);
      ++waiting_;
      ++added;
    }
    // A thread that has ended meanwhile is no failure.
    if (result < 0 && -result != kErrnoNoSuchProcess && error_ == 0) {
      error_ = static_cast<int>(-result);
    }
  }
  return added;
}

// `guess` is where the thread probably stands: stops come in the order of the
// list.
void Freeze::NoteStop(int32_t id, int status, size_t guess) {
  for (size_t k = 0; k < count_; ++k) {
    FrozenThread& thread = threads_[(guess + k) % count_];
    if (thread.id != id || thread.seized == 0 || thread.stopped != 0) {
      continue;
    }
    --waiting_;
    if ((status & 0xff) != 0x7f) {  // it ended instead
      thread.seized = 0;
      return;
    }
    thread.stopped = 1;
    const int signal = status >> 8 & 0xff;
    // An event stop (PTRACE_INTERRUPT's trap, or a group stop) carries no
    // signal to deliver; a signal-delivery stop does.
    const bool event_stop = status >> 16 == kEventStop;
    thread.signal = event_stop ? 0 : signal;
    thread.group_stop = event_stop && signal != kSigTrap ? 1 : 0;
    return;
  }
}

// Where waiting is refused: registers can be had as soon as a thread stands.
void Freeze::WaitByAsking(uint64_t deadline_ns) {
  constexpr int kTries = 100;
  constexpr uint64_t kPauseNs = 1000000;
  for (int i = 0; i < kTries && safe::MonotonicNs() < deadline_ns; ++i) {
    bool all = true;
    for (size_t k = 0; k < count_; ++k) {
      FrozenThread& thread = threads_[k];
      if (thread.seized == 0 || thread.stopped != 0) {
        continue;
      }
      Registers registers;
      char state = 0;
      thread.stopped = 1;
      if (!ReadRegisters(k, &registers, &state)) {
        thread.stopped = 0;
        all = false;
      }
    }
    if (all) {
      return;
    }
    const uint32_t never = 0;
    safe::FutexWaitUntil(&never, 0, safe::MonotonicNs() + kPauseNs);
  }
}

void Freeze::WaitForStops(size_t first, uint64_t deadline_ns) {
  size_t next = first;
  while (waiting_ > 0) {
    int status = 0;
    // Every stop seen in order costs one wait; -1 is any tracee of ours.
    const long id = SystemCall(SYS_wait4, -1, AsLong(&status), kWaitAll, 0);
    if (id == -kErrnoInterrupted) {
      if (safe::MonotonicNs() >= deadline_ns) {
        return;
      }
      continue;
    }
    if (id < 0) {
      WaitByAsking(deadline_ns);
      return;
    }
    NoteStop(static_cast<int32_t>(id), status, next < count_ ? next : first);
    ++next;
  }
}

void Freeze::StopAll(int32_t except,
                     uint64_t deadline_ns,
                     const ThreadHints& hints) {
  ArmTimer(deadline_ns);
  for (int round = 0; round < kRounds; ++round) {
    const size_t first = count_;
    if (SeizeNewThreads(except, hints) == 0) {
      break;
    }
    WaitForStops(first, deadline_ns);
    if (safe::MonotonicNs() >= deadline_ns) {
      break;
    }
  }
  DisarmTimer();
}

void Freeze::Thaw() {
  for (size_t i = 0; i < count_; ++i) {
    FrozenThread& thread = threads_[i];
    if (thread.stopped != 0) {
      SystemCall(SYS_ptrace, PTRACE_DETACH, thread.id, 0, thread.signal);
      thread.stopped = thread.seized = 0;
    }
  }
}

int Freeze::PendingFault(size_t index) const {
  const FrozenThread& thread = threads_[index];
  if (thread.stopped == 0 || IsFault(thread.signal)) {
    return thread.stopped == 0 ? 0 : thread.signal;
  }
  // Stopped between its fault and the signal: that waits in its queue.
  struct {
    uint64_t offset;
    uint32_t flags;
    int32_t count;
  } arguments{0, 0, 1};
  alignas(8) int32_t siginfo[32];
  const long got = SystemCall(SYS_ptrace,
                              PTRACE_PEEKSIGINFO,
                              thread.id,
                              AsLong(&arguments),
                              AsLong(siginfo));
  constexpr size_t kCode = 2;  // si_code: positive when the kernel raised it
  return got == 1 && IsFault(siginfo[0]) && siginfo[kCode] > 0 ? siginfo[0] : 0;
}

bool Freeze::ReadRegisters(size_t index, Registers* out, char* state) const {
  if (threads_[index].stopped == 0) {
    return false;
  }
  alignas(8) uint8_t raw[kUserRegistersBytes];
  IoVector vector{raw, sizeof(raw)};
  if (SystemCall(SYS_ptrace,
                 PTRACE_GETREGSET,
                 threads_[index].id,
                 kNtPrstatus,
                 AsLong(&vector)) != 0 ||
      vector.bytes != sizeof(raw)) {
    return false;
  }
  RegistersFromUserRegs(raw, out);
  int64_t system_call;
  safe::Copy(&system_call, raw + kSystemCallWord * 8, 8);
  *state = threads_[index].group_stop != 0 ? 'T' : system_call >= 0 ? 'S' : 'R';
  return true;
}

}  // namespace cairn::capture
