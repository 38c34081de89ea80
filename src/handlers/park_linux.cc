// SPDX-License-Identifier: Apache-2.0
#include "handlers/park_linux.h"

#include "handlers/crash_state.h"
#include "handlers/signals_linux.h"
#include "safe/bytes.h"
#include "safe/clock.h"
#include "safe/syscall_linux.h"

namespace cairn::handlers {
namespace {

using safe::AsLong;
using safe::SystemCall;

constexpr int kSigSetXid = 33;  // nptl/nptl-signals.h: never blocked by glibc
constexpr int kUnusedSignal = 61;  // SIGRTMAX - 3
constexpr long kGetName = 16;      // PR_GET_NAME
// A parked thread whose crashed thread never lets it go goes on by itself.
constexpr uint64_t kLongestParkNs = 60 * 1000000000ull;
constexpr int kSendQueue = -1;  // SI_QUEUE

// siginfo_t of a queued signal: what rt_tgsigqueueinfo(2) takes.
struct QueuedInfo {
  int32_t number, error, code, padding;
  int32_t pid;
  uint32_t uid;
  uint64_t value;
  uint8_t rest[128 - 32];
};
static_assert(sizeof(QueuedInfo) == 128);

ParkRequest* OwnRequest(CrashState* state, const QueuedInfo& info) {
  const uint32_t count = __atomic_load_n(&state->park_count, __ATOMIC_ACQUIRE);
  const int32_t self = safe::ThreadId();
  // Its place came with the signal, unless that was sent without a value.
  if (info.code == kSendQueue && info.value < count &&
      state->park_requests[info.value].thread_id == self) {
    return &state->park_requests[info.value];
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (state->park_requests[i].thread_id == self) {
      return &state->park_requests[i];
    }
  }
  return nullptr;
}

void OnPark(int /*signal*/, void* siginfo, void* ucontext) {
  CrashState* state = State();
  if (state == nullptr ||
      __atomic_load_n(&state->park_open, __ATOMIC_ACQUIRE) == 0) {
    return;  // too late
  }
  ParkRequest* request =
      OwnRequest(state, *static_cast<const QueuedInfo*>(siginfo));
  if (request == nullptr) {
    return;
  }
  request->ucontext = ucontext;
  SystemCall(SYS_prctl, kGetName, AsLong(request->name));
  __atomic_store_n(&request->answered, 1, __ATOMIC_RELEASE);
  __atomic_add_fetch(&state->park_answers, 1, __ATOMIC_ACQ_REL);
  safe::FutexWakeAll(&state->park_answers);
  const uint64_t deadline = safe::MonotonicNs() + kLongestParkNs;
  while (__atomic_load_n(&state->park_open, __ATOMIC_ACQUIRE) != 0 &&
         safe::MonotonicNs() < deadline) {
    safe::FutexWaitUntil(&state->park_open, 1, deadline);
  }
}

bool Ask(CrashState* state, uint32_t index) {
  const int32_t id = state->park_requests[index].thread_id;
  QueuedInfo info{};
  info.number = state->park_signal;
  info.code = kSendQueue;
  info.pid = state->process_id;
  info.value = index;
  if (SystemCall(SYS_rt_tgsigqueueinfo,
                 state->process_id,
                 id,
                 state->park_signal,
                 AsLong(&info)) == 0) {
    return true;
  }
  // The queue is full, or a filter knows only the older call.
  return SystemCall(SYS_tgkill, state->process_id, id, state->park_signal) == 0;
}

}  // namespace

void OpenParking(CrashState* state, bool may_go_on) {
  state->park_signal = may_go_on ? kUnusedSignal : kSigSetXid;
  state->park_count = state->park_answers = 0;
  GetAction(state->park_signal, &state->park_former);
  // On the alternate stack: the own one may be small (A1.16).
  if (SetAction(state->park_signal,
                HandlerAction(&OnPark, kFlagOnStack | kFlagRestart, ~0ull)) ==
      0) {
    __atomic_store_n(&state->park_open, 1, __ATOMIC_RELEASE);
  }
}

size_t AskToPark(CrashState* state,
                 const int32_t* ids,
                 size_t count,
                 uint64_t deadline_ns) {
  if (__atomic_load_n(&state->park_open, __ATOMIC_ACQUIRE) == 0) {
    return 0;
  }
  const uint32_t first = state->park_count;
  uint32_t end = first;
  for (size_t i = 0; i < count && end < kMaxThreads; ++i) {
    state->park_requests[end++] = {ids[i], 0, nullptr, {}};
  }
  __atomic_store_n(&state->park_count, end, __ATOMIC_RELEASE);
  uint32_t asked = __atomic_load_n(&state->park_answers, __ATOMIC_ACQUIRE);
  for (uint32_t i = first; i < end; ++i) {
    asked += Ask(state, i) ? 1 : 0;
  }
  uint32_t answers = __atomic_load_n(&state->park_answers, __ATOMIC_ACQUIRE);
  while (answers < asked && safe::MonotonicNs() < deadline_ns) {
    safe::FutexWaitUntil(&state->park_answers, answers, deadline_ns);
    answers = __atomic_load_n(&state->park_answers, __ATOMIC_ACQUIRE);
  }
  return answers;
}

const ParkRequest* FindParked(const CrashState& state, int32_t thread_id) {
  const uint32_t count = __atomic_load_n(&state.park_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; ++i) {
    const ParkRequest& request = state.park_requests[i];
    if (request.thread_id == thread_id) {
      return __atomic_load_n(&request.answered, __ATOMIC_ACQUIRE) != 0
                 ? &request
                 : nullptr;
    }
  }
  return nullptr;
}

void CloseParking(CrashState* state) {
  if (__atomic_load_n(&state->park_open, __ATOMIC_ACQUIRE) == 0) {
    return;
  }
  __atomic_store_n(&state->park_open, 0, __ATOMIC_RELEASE);
  safe::FutexWakeAll(&state->park_open);
  // A thread that has not answered yet would take the signal by the former
  // handler, or die of the default action: ours stays for it.
  if (__atomic_load_n(&state->park_answers, __ATOMIC_ACQUIRE) ==
      state->park_count) {
    SetAction(state->park_signal, state->park_former);
  }
}

}  // namespace cairn::handlers
