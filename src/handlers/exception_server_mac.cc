// SPDX-License-Identifier: Apache-2.0
//
// The two threads that crashes are written by.
//
//   ExceptionThread                        SecondThread
//   receive ◀ kernel, OnSignal, capture
//   Watch ────────────────────────────────▶ waits until the deadline
//   WriteReport
//   signals and ports put back
//   Done ─────────────────────────────────▶ waits for ever again
//   answer the kernel, or the earlier port
//
// The second is also the exception port of the first: a fault in our own code,
// or the deadline, makes it seal what stands and answer in the first's place.
#include <mach/mach.h>
#include <unistd.h>

#include "capture/context_mac.h"
#include "capture/thread_facts_mac.h"
#include "handlers/crash_state_mac.h"
#include "safe/bytes.h"
#include "safe/clock.h"
#include "safe/mach_calls_mac.h"

namespace cairn::handlers {
namespace {

constexpr int32_t kRequestId = 0x43410001;
constexpr int32_t kStopId = 0x43410002;
constexpr int32_t kWatchId = 0x43410003;
constexpr int32_t kDoneId = 0x43410004;
constexpr mach_msg_timeout_t kSendLimitMs = 1000;
constexpr mach_msg_timeout_t kForwardLimitMs = 10000;
constexpr uint64_t kAskExtraMs = 5000;
constexpr uint64_t kMostThreadsInLimit = 1024;

struct Plain {
  mach_msg_header_t head;
  uint64_t value;
};
struct PlainReceive {
  Plain message;
  mach_msg_trailer_t trailer;
};

mach_msg_timeout_t LimitMs(const CrashState& state) {
  return static_cast<mach_msg_timeout_t>(
      (state.limits.limit_ns +
       kMostThreadsInLimit * state.limits.limit_per_thread_ns / 16) /
      1000000u);
}

void SendPlain(mach_port_t port, int32_t id, uint64_t value) {
  Plain message = {};
  message.head.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
  message.head.msgh_size = sizeof(message);
  message.head.msgh_remote_port = port;
  message.head.msgh_id = id;
  message.value = value;
  mach_msg(&message.head,
           MACH_SEND_MSG | MACH_SEND_TIMEOUT,
           sizeof(message),
           0,
           MACH_PORT_NULL,
           kSendLimitMs,
           MACH_PORT_NULL);
}

// Whoever of the two threads takes it answers; the other finds nothing.
bool TakePending(CrashState* state) {
  return __atomic_exchange_n(&state->has_pending, 0, __ATOMIC_ACQ_REL) != 0;
}

void Answer(const MessageHeader& request, int32_t answer) {
  alignas(8) uint8_t reply[kMaxReplyBytes];
  const size_t bytes = EncodeReply(request, answer, reply);
  mach_msg(reinterpret_cast<mach_msg_header_t*>(reply),
           MACH_SEND_MSG | MACH_SEND_TIMEOUT,
           static_cast<mach_msg_size_t>(bytes),
           0,
           MACH_PORT_NULL,
           kSendLimitMs,
           MACH_PORT_NULL);
}

// From here on the process dies, or lives on, as it would without us.
void StepAside(CrashState* state) {
  RestoreSignals(state);
  RestoreExceptionPorts(state);
}

// Sends the exception to the port that was there before, in that one's own
// behaviour and flavour; returns its answer.
int32_t ForwardMessage(CrashState* state) {
  const EarlierPort* earlier =
      FindEarlier(state->earlier_ports, state->mach.exception);
  const mach_port_t reply_port = mach_reply_port();
  mach_msg_type_number_t words = kMaxStateWords;
  if (earlier == nullptr || thread_get_state(state->mach.thread_port,
                                             earlier->flavor,
                                             state->thread_state,
                                             &words) != KERN_SUCCESS) {
    words = 0;
  }
  const size_t bytes = earlier == nullptr ? 0
                                          : EncodeForward(*earlier,
                                                          state->mach,
                                                          reply_port,
                                                          state->thread_state,
                                                          words,
                                                          state->forward);
  ForwardAnswer answer = {};
  auto* message = reinterpret_cast<mach_msg_header_t*>(state->forward);
  const bool answered =
      bytes != 0 &&
      mach_msg(
          message,
          MACH_SEND_MSG | MACH_RCV_MSG | MACH_SEND_TIMEOUT | MACH_RCV_TIMEOUT,
          static_cast<mach_msg_size_t>(bytes),
          kMaxMessageBytes,
          reply_port,
          kForwardLimitMs,
          MACH_PORT_NULL) == MACH_MSG_SUCCESS &&
      DecodeForwardAnswer(
          *earlier, state->forward, message->msgh_size, &answer);
  mach_port_mod_refs(mach_task_self_, reply_port, MACH_PORT_RIGHT_RECEIVE, -1);
  if (!answered) {
    return kReplyFailure;
  }
  if (answer.result == kReplySuccess && answer.state_words != 0) {
    safe::Copy(state->thread_state,
               answer.state,
               answer.state_words * sizeof(uint32_t));
    thread_set_state(state->mach.thread_port,
                     answer.flavor,
                     state->thread_state,
                     answer.state_words);
  }
  return answer.result;
}

int32_t Decide(CrashState* state) {
  switch (PlanForward(state->earlier_ports,
                      state->mach.exception,
                      state->registers.architecture)) {
    case Forward::kNone:
      break;
    case Forward::kFaultAgain:
      return kReplySuccess;
    case Forward::kMessage:
      return ForwardMessage(state);
  }
  // Never KERN_SUCCESS for nothing: the fault would repeat for ever (finding
  // 12).
  return kReplyFailure;
}

void WriteWatched(CrashState* state, uint64_t thread_id) {
  SetPhase(state, Phase::kWriting);
  SendPlain(state->second_port, kWatchId, LimitMs(*state));
  WriteReport(state, thread_id);
  SendPlain(state->second_port, kDoneId, 0);
}

// A forked child inherits its parent's exception ports, and its exceptions come
// to the parent: they are not ours.
bool IsOwnTask(mach_port_t task) {
  int pid = 0;
  return pid_for_task(task, &pid) != KERN_SUCCESS || pid == getpid();
}

void OnException(CrashState* state, const MessageHeader& header) {
  if (state->mach.exception == EXC_CRASH) {
    Answer(header, kReplyPortDied);
    return;
  }
  if (PhaseOf(*state) == Phase::kReported || IsDebuggersSignal(state->mach) ||
      !IsOwnTask(state->mach.task_port)) {
    Answer(header, kReplyFailure);
    return;
  }
  state->pending = header;
  __atomic_store_n(&state->has_pending, 1, __ATOMIC_RELEASE);
  state->has_mach = true;
  state->request = nullptr;
  state->thread = state->mach.thread_port;
  capture::ReadThreadRegisters(state->thread, &state->registers);
  WriteWatched(state, capture::ThreadIdOf(state->thread));
  SetPhase(state, Phase::kReported);
  StepAside(state);
  if (TakePending(state)) {
    Answer(header, Decide(state));
  }
}

void OnRequest(CrashState* state, const MessageHeader& header, uint64_t value) {
  auto* request = reinterpret_cast<Request*>(value);
  const bool crash = request->siginfo != nullptr;
  if (PhaseOf(*state) != Phase::kReported) {
    state->pending = header;
    __atomic_store_n(&state->has_pending, 1, __ATOMIC_RELEASE);
    state->has_mach = false;
    state->request = request;
    state->thread = MACH_PORT_NULL;
    state->registers = request->registers;
    WriteWatched(state, request->thread_id);
    request->written = state->slot != nullptr;
    SetPhase(state, crash ? Phase::kReported : Phase::kIdle);
    if (crash) {
      StepAside(state);
    }
    if (!TakePending(state)) {
      return;
    }
  }
  Answer(header, kReplySuccess);
}

void Dispatch(CrashState* state) {
  MessageHeader header;
  auto* head = reinterpret_cast<mach_msg_header_t*>(state->message);
  if (!DecodeHeader(state->message, head->msgh_size, &header)) {
    return;
  }
  if (header.id == kRequestId) {
    OnRequest(state, header, reinterpret_cast<Plain*>(head)->value);
  } else if (DecodeRequest(state->message, head->msgh_size, &state->mach)) {
    OnException(state, header);
    mach_port_deallocate(mach_task_self_, state->mach.thread_port);
    mach_port_deallocate(mach_task_self_, state->mach.task_port);
  } else {
    Answer(header, kMigBadId);
  }
}

// The first thread cannot go on. It stays where it is: in its own exception,
// which nobody answers, or suspended.
void Rescue(CrashState* state, bool timed_out) {
  if (timed_out) {
    thread_suspend(state->exception_thread);
  }
  SealReport(state, timed_out);
  SetPhase(state, Phase::kReported);
  StepAside(state);
  state->freeze.Thaw();
  if (TakePending(state)) {
    Answer(state->pending, state->has_mach ? kReplyFailure : kReplySuccess);
  }
}

void MarkOwn(CrashState* state, size_t index) {
  const mach_port_t self = mach_thread_self();
  __atomic_store_n(
      &state->own_threads[index], capture::ThreadIdOf(self), __ATOMIC_RELEASE);
  if (index == 0) {
    state->exception_thread = self;  // kept
    return;
  }
  mach_port_deallocate(mach_task_self_, self);
}

}  // namespace

void* ExceptionThread(void* argument) {
  auto* state = static_cast<CrashState*>(argument);
  MarkOwn(state, 0);
  thread_set_exception_ports(
      state->exception_thread,
      kExceptionMask,
      state->second_port,
      static_cast<exception_behavior_t>(kBehaviorDefault | kBehavior64),
      THREAD_STATE_NONE);
  for (;;) {
    auto* head = reinterpret_cast<mach_msg_header_t*>(state->message);
    if (mach_msg(head,
                 MACH_RCV_MSG,
                 0,
                 kMaxMessageBytes,
                 state->server_port,
                 MACH_MSG_TIMEOUT_NONE,
                 MACH_PORT_NULL) != MACH_MSG_SUCCESS) {
      continue;  // too large or interrupted: the kernel has dropped it
    }
    if (head->msgh_id == kStopId) {
      return nullptr;
    }
    Dispatch(state);
  }
}

void* SecondThread(void* argument) {
  auto* state = static_cast<CrashState*>(argument);
  MarkOwn(state, 1);
  mach_msg_timeout_t limit_ms = 0;  // 0: for ever
  for (;;) {
    auto* head = reinterpret_cast<mach_msg_header_t*>(state->second_message);
    const mach_msg_return_t result =
        mach_msg(head,
                 MACH_RCV_MSG | (limit_ms != 0 ? MACH_RCV_TIMEOUT : 0),
                 0,
                 kMaxMessageBytes,
                 state->second_port,
                 limit_ms,
                 MACH_PORT_NULL);
    if (result == MACH_RCV_TIMED_OUT) {
      limit_ms = 0;
      Rescue(state, true);
    } else if (result != MACH_MSG_SUCCESS) {
      continue;
    } else if (head->msgh_id == kStopId) {
      return nullptr;
    } else if (head->msgh_id == kWatchId) {
      limit_ms = static_cast<mach_msg_timeout_t>(
          reinterpret_cast<Plain*>(head)->value);
    } else if (head->msgh_id == kDoneId) {
      limit_ms = 0;
    } else {
      limit_ms = 0;
      Rescue(state, false);  // an exception of the first thread
    }
  }
}

bool TakeExceptionPorts(CrashState* state) {
  exception_mask_t masks[kMaxEarlierPorts] = {};
  mach_port_t ports[kMaxEarlierPorts] = {};
  exception_behavior_t behaviors[kMaxEarlierPorts] = {};
  thread_state_flavor_t flavors[kMaxEarlierPorts] = {};
  mach_msg_type_number_t count = kMaxEarlierPorts;
  if (task_swap_exception_ports(
          mach_task_self_,
          kExceptionMask,
          state->server_port,
          static_cast<exception_behavior_t>(kBehaviorDefault | kBehavior64),
          THREAD_STATE_NONE,
          masks,
          &count,
          ports,
          behaviors,
          flavors) != KERN_SUCCESS) {
    return false;
  }
  state->earlier_ports.count = count;
  for (mach_msg_type_number_t i = 0; i < count && i < kMaxEarlierPorts; ++i) {
    state->earlier_ports.ports[i] = {
        masks[i], ports[i], static_cast<uint32_t>(behaviors[i]), flavors[i]};
  }
  state->ports_set = 1;
  return true;
}

// Only exceptions of which we still are the listener: another reporter may have
// come behind us.
void RestoreExceptionPorts(CrashState* state) {
  if (__atomic_exchange_n(&state->ports_set, 0, __ATOMIC_ACQ_REL) == 0) {
    return;
  }
  exception_mask_t masks[kMaxEarlierPorts] = {};
  mach_port_t ports[kMaxEarlierPorts] = {};
  exception_behavior_t behaviors[kMaxEarlierPorts] = {};
  thread_state_flavor_t flavors[kMaxEarlierPorts] = {};
  mach_msg_type_number_t count = kMaxEarlierPorts;
  uint32_t still = 0;
  if (task_get_exception_ports(mach_task_self_,
                               kExceptionMask,
                               masks,
                               &count,
                               ports,
                               behaviors,
                               flavors) == KERN_SUCCESS) {
    for (mach_msg_type_number_t i = 0; i < count && i < kMaxEarlierPorts; ++i) {
      still |= ports[i] == state->server_port ? masks[i] : 0;
      if (ports[i] != MACH_PORT_NULL) {
        mach_port_deallocate(mach_task_self_, ports[i]);
      }
    }
  }
  for (uint32_t i = 0; i < state->earlier_ports.count; ++i) {
    const EarlierPort& earlier = state->earlier_ports.ports[i];
    if ((earlier.mask & still) != 0) {
      task_set_exception_ports(
          mach_task_self_,
          earlier.mask & still,
          earlier.port,
          static_cast<exception_behavior_t>(earlier.behavior),
          earlier.flavor);
    }
  }
}

void SendStop(mach_port_t port) {
  SendPlain(port, kStopId, 0);
}

bool AskForReport(CrashState* state, Request* request) {
  PlainReceive buffer = {};
  const mach_port_t reply_port = mach_reply_port();
  Plain& message = buffer.message;
  message.head.msgh_bits =
      MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE);
  message.head.msgh_size = sizeof(message);
  message.head.msgh_remote_port = state->server_port;
  message.head.msgh_local_port = reply_port;
  message.head.msgh_id = kRequestId;
  message.value = reinterpret_cast<uint64_t>(request);
  const bool answered =
      mach_msg(
          &message.head,
          MACH_SEND_MSG | MACH_RCV_MSG | MACH_SEND_TIMEOUT | MACH_RCV_TIMEOUT,
          sizeof(message),
          sizeof(buffer),
          reply_port,
          LimitMs(*state) + static_cast<mach_msg_timeout_t>(kAskExtraMs),
          MACH_PORT_NULL) == MACH_MSG_SUCCESS;
  mach_port_mod_refs(mach_task_self_, reply_port, MACH_PORT_RIGHT_RECEIVE, -1);
  return answered;
}

}  // namespace cairn::handlers
