// SPDX-License-Identifier: Apache-2.0
#include "exceptions.h"

#include <time.h>
#include <unistd.h>

#include <cstring>

#include "../darwin.h"
#include "../shim_table.h"
#include "../violations.h"
#include "ports.h"
#include "thread.h"

namespace mach_host {
namespace {

ExceptionPort task_ports[darwin::kExcTypesCount];

constexpr int kTrapBreakpoint = 3, kTrapOverflow = 4, kTrapDebug = 1,
              kTrapGeneral = 13, kTrapPage = 14, kTrapSse = 19;
constexpr std::int64_t kMemoryError =
    10;  // KERN_MEMORY_ERROR: the pager could not

// The first bytes of an exception_raise request (mach_exc.defs), port part.
#pragma pack(push, 4)
struct PortPart {
  darwin::MsgHeader header;
  std::uint32_t descriptor_count;
  darwin::PortDescriptor thread, task;
  darwin::Ndr ndr;
  std::int32_t exception;
  std::uint32_t code_count;
};
struct PlainPart {
  darwin::MsgHeader header;
  darwin::Ndr ndr;
  std::int32_t exception;
  std::uint32_t code_count;
};
struct ReplyPart {
  darwin::MsgHeader header;
  darwin::Ndr ndr;
  std::int32_t result;
};
struct StateReplyPart {
  ReplyPart reply;
  std::int32_t flavor;
  std::uint32_t state_count;
};
#pragma pack(pop)

template <typename T>
void Append(std::vector<std::uint8_t>* to, const T& value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  to->insert(to->end(), bytes, bytes + sizeof value);
}

darwin::MsgHeader HeaderFor(const ExceptionPort& to,
                            std::uint32_t reply,
                            int id,
                            bool complex) {
  darwin::MsgHeader header = {};
  // As a receiver sees it: a send-once right to the reply, a send right it came
  // by.
  header.bits = darwin::kMoveSendOnce | darwin::kMoveSend << 8 |
                (complex ? darwin::kMsgComplex : 0);
  header.remote = reply;
  header.local = to.port;
  header.id = id;
  return header;
}

darwin::PortDescriptor Right(std::uint32_t name) {
  ++FindPort(name)->sends;
  return {name, 0, 0, darwin::kMoveSend, 0};
}

// Fills the state for a flavour; words, or 0 for a flavour that is not here.
std::uint32_t StateWords(Thread* self, int flavor, std::uint32_t* words) {
  if (flavor == darwin::kThreadState64) {
    std::memcpy(words, &self->user, sizeof self->user);
    return darwin::kThreadState64Count;
  }
  if (flavor == darwin::kThreadState) {
    words[0] = darwin::kThreadState64, words[1] = darwin::kThreadState64Count;
    std::memcpy(words + 2, &self->user, sizeof self->user);
    return darwin::kThreadStateCount;
  }
  return 0;
}

Message Request(Thread* self,
                const ExceptionPort& to,
                std::uint32_t reply,
                const MachException& exception) {
  const bool wide = (static_cast<std::uint32_t>(to.behavior) &
                     darwin::kMachExceptionCodes) != 0;
  const int behavior = to.behavior & 0x7fffffff;
  const int base = wide ? darwin::kMachExcRaise : darwin::kExcRaise;
  Message message;
  std::vector<std::uint8_t>& out = message.bytes;
  const bool identity = behavior != darwin::kBehaviorState;
  if (identity) {
    PortPart part = {HeaderFor(to, reply, base + behavior - 1, true),
                     2,
                     Right(self->port),
                     Right(TaskPort()),
                     darwin::kNdr,
                     exception.kind,
                     2};
    Append(&out, part);
  } else {
    const PlainPart part = {
        HeaderFor(to, reply, base + 1, false), darwin::kNdr, exception.kind, 2};
    Append(&out, part);
  }
  if (wide) {
    Append(&out, exception.code);
    Append(&out, exception.subcode);
  } else {
    Append(&out, static_cast<std::int32_t>(exception.code));
    Append(&out, static_cast<std::int32_t>(exception.subcode));
  }
  if (behavior != darwin::kBehaviorDefault) {
    std::uint32_t words[darwin::kThreadStateCount];
    const std::uint32_t count = StateWords(self, to.flavor, words);
    Append(&out, to.flavor);
    Append(&out, count);
    out.insert(out.end(),
               reinterpret_cast<std::uint8_t*>(words),
               reinterpret_cast<std::uint8_t*>(words + count));
  }
  const auto size = static_cast<std::uint32_t>(out.size());
  std::memcpy(out.data() + 4, &size, sizeof size);
  return message;
}

// Waits for the answer on `reply`; the thread counts as stopped meanwhile.
Message AwaitReply(Port* reply) {
  for (;;) {
    std::uint32_t seen;
    {
      const KernelScope scope;
      if (!reply->queue.empty()) {
        Message message = reply->queue.front();
        Ports().erase(reply->name);
        return message;
      }
      seen = reply->changed;
    }
    FutexWait(&reply->changed, seen, -1);
  }
}

// A handler that says KERN_SUCCESS without having changed anything sends the
// thread back to the same instruction; the real system does that for ever.
bool EndlessFault(std::uint64_t rip) {
  static std::uint64_t last_rip = 0;
  static int repeats = 0;
  repeats = rip == last_rip ? repeats + 1 : 0;
  last_rip = rip;
  return repeats >= 1000;
}

// One level of exception_triage. 1: handled, 0: go on to the next.
// `to` is a copy: a handler may set other ports before it answers.
bool Deliver(Thread* self,
             const ExceptionPort to,
             const MachException& exception) {
  if (to.port == 0)
    return false;
  if (PlayedFaults().slow_reply_ms != 0) {
    const timespec pause = {PlayedFaults().slow_reply_ms / 1000,
                            PlayedFaults().slow_reply_ms % 1000 * 1000000};
    nanosleep(&pause, nullptr);
  }
  Port* reply;
  {
    const KernelScope scope;
    reply = NewReplyPort();
    if (!Post(to.port, Request(self, to, reply->name, exception)))
      return false;
    if (PlayedFaults().port_dies) {
      PlayedFaults().port_dies = false;
      DestroyReceive(FindPort(to.port));
    }
  }
  const Message answer = AwaitReply(reply);
  ReplyPart part;
  if (answer.bytes.size() < sizeof part)
    return false;  // the right died: MACH_RCV_PORT_DIED
  std::memcpy(&part, answer.bytes.data(), sizeof part);
  const bool wide = (static_cast<std::uint32_t>(to.behavior) &
                     darwin::kMachExceptionCodes) != 0;
  const int behavior = to.behavior & 0x7fffffff;
  const int expected =
      (wide ? darwin::kMachExcRaise : darwin::kExcRaise) + behavior - 1 + 100;
  if (part.header.id != expected) {
    Violation("wrong_reply_id",
              "a reply's msgh_id is not the request's plus 100");
    return false;
  }
  if (part.result != darwin::kSuccess)
    return false;
  if (behavior == darwin::kBehaviorDefault)
    return true;
  StateReplyPart state;
  if (answer.bytes.size() < sizeof state) {
    Violation("short_state_reply", "a state reply without its state");
    return false;
  }
  std::memcpy(&state, answer.bytes.data(), sizeof state);
  if (state.state_count == 0)
    return true;
  if (state.state_count != darwin::kThreadState64Count ||
      answer.bytes.size() < sizeof state + sizeof(darwin::ThreadState64)) {
    Violation("wrong_state_count",
              "a state reply's count does not fit its flavour");
    return false;
  }
  darwin::ThreadState64 changed;
  std::memcpy(&changed, answer.bytes.data() + sizeof state, sizeof changed);
  SetUserState(self, changed);
  return true;
}

bool WantsMask(std::uint32_t mask, int kind) {
  return (mask & (1u << kind)) != 0;
}

int SetPorts(ExceptionPort* ports,
             std::uint32_t mask,
             std::uint32_t port,
             int behavior,
             int flavor) {
  const int plain = behavior & 0x7fffffff;
  if (port != 0 && (plain < 1 || plain > 3))
    return darwin::kInvalidArgument;
  if (WantsMask(mask, darwin::kExcCrash) && port != 0 &&
      FindPort(port) != nullptr && FindPort(port)->receive)
    Violation("exc_crash_in_process",
              "EXC_CRASH is raised when no thread can answer any more");
  for (int kind = 1; kind < darwin::kExcTypesCount; ++kind)
    if (WantsMask(mask, kind))
      ports[kind] = {port, behavior, flavor};
  return darwin::kSuccess;
}

// Ports of the masks, equal ones told once (osfmk/kern/ipc_tt.c).
int GetPorts(const ExceptionPort* ports,
             std::uint32_t mask,
             std::uint32_t* masks,
             std::uint32_t* count,
             std::uint32_t* names,
             std::int32_t* behaviors,
             std::int32_t* flavors) {
  const std::uint32_t room = *count;
  std::uint32_t used = 0;
  for (int kind = 1; kind < darwin::kExcTypesCount; ++kind) {
    if (!WantsMask(mask, kind))
      continue;
    std::uint32_t i = 0;
    while (i < used && (names[i] != ports[kind].port ||
                        behaviors[i] != ports[kind].behavior ||
                        flavors[i] != ports[kind].flavor))
      ++i;
    if (i == used) {
      if (used >= room)
        break;
      masks[i] = 0, names[i] = ports[kind].port;
      behaviors[i] = ports[kind].behavior, flavors[i] = ports[kind].flavor;
      if (Port* port = FindPort(names[i]))
        ++port->sends;
      ++used;
    }
    masks[i] |= 1u << kind;
  }
  *count = used;
  return darwin::kSuccess;
}

int TaskSetPorts(std::uint32_t task,
                 std::uint32_t mask,
                 std::uint32_t port,
                 int behavior,
                 int flavor) {
  const KernelScope scope;
  if (task != TaskPort())
    return darwin::kInvalidArgument;
  return SetPorts(task_ports, mask, port, behavior, flavor);
}

int TaskGetPorts(std::uint32_t task,
                 std::uint32_t mask,
                 std::uint32_t* masks,
                 std::uint32_t* count,
                 std::uint32_t* names,
                 std::int32_t* behaviors,
                 std::int32_t* flavors) {
  const KernelScope scope;
  if (task != TaskPort())
    return darwin::kInvalidArgument;
  return GetPorts(task_ports, mask, masks, count, names, behaviors, flavors);
}

int TaskSwapPorts(std::uint32_t task,
                  std::uint32_t mask,
                  std::uint32_t port,
                  int behavior,
                  int flavor,
                  std::uint32_t* masks,
                  std::uint32_t* count,
                  std::uint32_t* names,
                  std::int32_t* behaviors,
                  std::int32_t* flavors) {
  const int got =
      TaskGetPorts(task, mask, masks, count, names, behaviors, flavors);
  return got != darwin::kSuccess
             ? got
             : TaskSetPorts(task, mask, port, behavior, flavor);
}

int ThreadSetPorts(std::uint32_t name,
                   std::uint32_t mask,
                   std::uint32_t port,
                   int behavior,
                   int flavor) {
  const KernelScope scope;
  Thread* thread = FindThreadByPort(name);
  if (thread == nullptr)
    return darwin::kInvalidArgument;
  return SetPorts(thread->ports, mask, port, behavior, flavor);
}

int ThreadGetPorts(std::uint32_t name,
                   std::uint32_t mask,
                   std::uint32_t* masks,
                   std::uint32_t* count,
                   std::uint32_t* names,
                   std::int32_t* behaviors,
                   std::int32_t* flavors) {
  const KernelScope scope;
  Thread* thread = FindThreadByPort(name);
  if (thread == nullptr)
    return darwin::kInvalidArgument;
  return GetPorts(thread->ports, mask, masks, count, names, behaviors, flavors);
}

int ThreadSwapPorts(std::uint32_t name,
                    std::uint32_t mask,
                    std::uint32_t port,
                    int behavior,
                    int flavor,
                    std::uint32_t* masks,
                    std::uint32_t* count,
                    std::uint32_t* names,
                    std::int32_t* behaviors,
                    std::int32_t* flavors) {
  const int got =
      ThreadGetPorts(name, mask, masks, count, names, behaviors, flavors);
  return got != darwin::kSuccess
             ? got
             : ThreadSetPorts(name, mask, port, behavior, flavor);
}

}  // namespace

MachException Classify(int linux_signal,
                       const siginfo_t& info,
                       const ucontext_t& context) {
  const auto trap = static_cast<int>(context.uc_mcontext.gregs[REG_TRAPNO]);
  const auto address = reinterpret_cast<std::int64_t>(info.si_addr);
  switch (linux_signal) {
    case SIGSEGV:
      if (trap == kTrapOverflow)
        return {darwin::kExcArithmetic, 2, 0, darwin::kSigFpe};
      if (trap == kTrapPage && info.si_code == SEGV_MAPERR)
        return {darwin::kExcBadAccess,
                darwin::kInvalidAddress,
                address,
                darwin::kSigSegv};
      if (trap == kTrapPage)
        return {darwin::kExcBadAccess,
                darwin::kProtectionFailure,
                address,
                darwin::kSigBus};
      return {
          darwin::kExcBadAccess, darwin::kExcI386GpFlt, 0, darwin::kSigSegv};
    case SIGBUS:
      return {darwin::kExcBadAccess, kMemoryError, address, darwin::kSigBus};
    case SIGILL:
      return {darwin::kExcBadInstruction,
              darwin::kExcI386InvOp,
              0,
              darwin::kSigIll};
    case SIGFPE:
      if (trap == kTrapSse)
        return {darwin::kExcArithmetic, 8, 0, darwin::kSigFpe};
      return {darwin::kExcArithmetic, darwin::kExcI386Div, 0, darwin::kSigFpe};
    case SIGTRAP:
      if (trap == kTrapDebug)
        return {
            darwin::kExcBreakpoint, darwin::kExcI386Sgl, 0, darwin::kSigTrap};
      return {darwin::kExcBreakpoint, darwin::kExcI386Bpt, 0, darwin::kSigTrap};
    default:
      return {};
  }
}

bool RaiseException(const MachException& exception, ucontext_t* context) {
  Thread* self = Self();
  const greg_t* registers = context->uc_mcontext.gregs;
  self->exception_state = {static_cast<std::uint16_t>(registers[REG_TRAPNO]),
                           0,
                           static_cast<std::uint32_t>(registers[REG_ERR]),
                           static_cast<std::uint64_t>(registers[REG_CR2])};
  EnterStopped(self, context);
  self->in_exception = true;
  bool handled = Deliver(self, self->ports[exception.kind], exception);
  if (!handled)
    handled = Deliver(self, task_ports[exception.kind], exception);
  WaitWhileSuspended(self);
  self->in_exception = false;
  if (!handled)
    self->user_changed = false;
  LeaveStopped(self);
  if (handled && EndlessFault(static_cast<std::uint64_t>(registers[REG_RIP]))) {
    Violation("endless_fault",
              "KERN_SUCCESS again and again for an unchanged thread");
    _exit(98);
  }
  return handled;
}

void CheckLeaks() {
  const KernelScope scope;
  for (const Thread* thread : Threads())
    if (thread->suspend_count > 0)
      Violation("leaked_suspension",
                "a thread is still suspended when the program ends");
  std::uint32_t rights = 0;
  for (const auto& [name, port] : Ports())
    if (port->kind == PortKind::kThread)
      rights += port->sends;
  if (rights > 64)
    Violation("leaked_thread_rights",
              "more than 64 send rights to threads were never released");
}

MACH_SHIM("_task_set_exception_ports", TaskSetPorts);
MACH_SHIM("_task_get_exception_ports", TaskGetPorts);
MACH_SHIM("_task_swap_exception_ports", TaskSwapPorts);
MACH_SHIM("_thread_set_exception_ports", ThreadSetPorts);
MACH_SHIM("_thread_get_exception_ports", ThreadGetPorts);
MACH_SHIM("_thread_swap_exception_ports", ThreadSwapPorts);

}  // namespace mach_host
