// SPDX-License-Identifier: Apache-2.0
//
// mach_msg and the calls on port rights (xnu osfmk/ipc/mach_msg.c,
// mach_port.c).
#include <time.h>

#include <cstring>

#include "../darwin.h"
#include "../shim_table.h"
#include "../violations.h"
#include "ports.h"
#include "thread.h"

namespace mach_host {
namespace {

using darwin::MsgHeader;

std::int64_t Now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

// The sender's header becomes the receiver's: reply port remote, destination
// local.
void Turn(MsgHeader* header) {
  const std::uint32_t remote = header->bits & 0x1f,
                      local = (header->bits >> 8) & 0x1f;
  const std::uint32_t kept = header->bits & ~0xffffu;
  const auto received = [](std::uint32_t disposition) -> std::uint32_t {
    switch (disposition) {
      case darwin::kMakeSendOnce:
      case darwin::kMoveSendOnce:
        return darwin::kMoveSendOnce;
      case 0:
        return 0;
      default:
        return darwin::kMoveSend;
    }
  };
  header->bits = kept | received(local) | received(remote) << 8;
  std::swap(header->remote, header->local);
}

int Send(const void* message, std::uint32_t size) {
  if (size < sizeof(MsgHeader))
    return darwin::kSendMsgTooSmall;
  Message copy;
  copy.bytes.assign(static_cast<const std::uint8_t*>(message),
                    static_cast<const std::uint8_t*>(message) + size);
  MsgHeader header;
  std::memcpy(&header, message, sizeof header);
  const std::uint32_t destination = header.remote;
  if ((header.bits & 0x1f) == 0)
    return darwin::kSendInvalidHeader;
  header.size = size;
  Turn(&header);
  std::memcpy(copy.bytes.data(), &header, sizeof header);
  const KernelScope scope;
  return Post(destination, std::move(copy)) ? darwin::kSuccess
                                            : darwin::kSendInvalidDest;
}

// The port that has a message for a receiver on `name`, or nullptr.
Port* Ready(Port* port) {
  if (port->kind != PortKind::kSet)
    return port->queue.empty() ? nullptr : port;
  for (const std::uint32_t member : port->members)
    if (Port* candidate = FindPort(member);
        candidate != nullptr && !candidate->queue.empty())
      return candidate;
  return nullptr;
}

int Receive(void* buffer,
            int option,
            std::uint32_t limit,
            std::uint32_t name,
            std::uint32_t timeout_ms) {
  const std::int64_t deadline = Now() + timeout_ms * 1000000ll;
  std::atomic<std::uint32_t>* word = nullptr;
  std::uint32_t seen = 0;
  for (;;) {
    {
      const KernelScope scope;
      Port* port = FindPort(name);
      if (port == nullptr ||
          (port->kind != PortKind::kSet && !port->receive && !port->dead))
        return darwin::kRcvInvalidName;
      if (port->dead)
        return darwin::kRcvPortDied;
      word = &port->changed;
      seen = *word;
      if (Port* ready = Ready(port)) {
        Message& message = ready->queue.front();
        constexpr std::uint32_t kTrailer = 8;
        const auto size = static_cast<std::uint32_t>(message.bytes.size());
        if (size + kTrailer > limit) {
          if ((option & darwin::kRcvLarge) == 0)
            ready->queue.pop_front();
          return darwin::kRcvTooLarge;
        }
        std::memcpy(buffer, message.bytes.data(), size);
        const std::uint32_t trailer[2] = {0, kTrailer};
        std::memcpy(
            static_cast<std::uint8_t*>(buffer) + size, trailer, sizeof trailer);
        ready->queue.pop_front();
        return darwin::kSuccess;
      }
    }
    // Out of the lock: a thread that waits here can be suspended.
    std::int64_t left = -1;
    if ((option & darwin::kRcvTimeout) != 0) {
      left = deadline - Now();
      if (left <= 0)
        return darwin::kRcvTimedOut;
    }
    FutexWait(word, seen, left);
  }
}

int MachMsg(void* message,
            int option,
            std::uint32_t send_size,
            std::uint32_t receive_size,
            std::uint32_t receive_name,
            std::uint32_t timeout,
            std::uint32_t) {
  if ((option & darwin::kSendMsg) != 0) {
    const int sent = Send(message, send_size);
    if (sent != darwin::kSuccess)
      return sent;
  }
  if ((option & darwin::kRcvMsg) == 0)
    return darwin::kSuccess;
  return Receive(message, option, receive_size, receive_name, timeout);
}

int MachMsgSend(MsgHeader* header) {
  return MachMsg(header, darwin::kSendMsg, header->size, 0, 0, 0, 0);
}

int PortAllocate(std::uint32_t, std::uint32_t right, std::uint32_t* name) {
  const KernelScope scope;
  if (right != 1 && right != 3)
    return darwin::kInvalidValue;  // RECEIVE, PORT_SET
  Port* port = NewPort(right == 1 ? PortKind::kReceive : PortKind::kSet);
  port->receive = right == 1;
  *name = port->name;
  return darwin::kSuccess;
}

int PortInsertRight(std::uint32_t,
                    std::uint32_t name,
                    std::uint32_t right,
                    std::uint32_t type) {
  const KernelScope scope;
  Port* port = FindPort(right);
  if (port == nullptr || name != right)
    return darwin::kInvalidName;
  if (type != darwin::kMakeSend && type != darwin::kCopySend)
    return darwin::kInvalidValue;
  if (type == darwin::kMakeSend && !port->receive)
    return darwin::kInvalidRight;
  ++port->sends;
  return darwin::kSuccess;
}

int PortDeallocate(std::uint32_t, std::uint32_t name) {
  const KernelScope scope;
  Port* port = FindPort(name);
  if (port == nullptr)
    return darwin::kInvalidName;
  if (port->sends == 0) {
    Violation("port_over_released",
              "mach_port_deallocate of a name without a send right");
    return darwin::kInvalidRight;
  }
  --port->sends;
  return darwin::kSuccess;
}

int PortModRefs(std::uint32_t,
                std::uint32_t name,
                std::uint32_t right,
                std::int32_t delta) {
  const KernelScope scope;
  Port* port = FindPort(name);
  if (port == nullptr)
    return darwin::kInvalidName;
  if (right == 1) {  // RECEIVE
    if (!port->receive || delta != -1)
      return darwin::kInvalidRight;
    DestroyReceive(port);
    return darwin::kSuccess;
  }
  if (static_cast<std::int64_t>(port->sends) + delta < 0)
    return darwin::kInvalidValue;
  port->sends += delta;
  return darwin::kSuccess;
}

int PortDestroy(std::uint32_t, std::uint32_t name) {
  const KernelScope scope;
  Port* port = FindPort(name);
  if (port == nullptr)
    return darwin::kInvalidName;
  if (port->receive)
    DestroyReceive(port);
  port->sends = 0;
  return darwin::kSuccess;
}

int PortDestruct(std::uint32_t task,
                 std::uint32_t name,
                 std::int32_t,
                 std::uint64_t) {
  return PortDestroy(task, name);
}

int PortMoveMember(std::uint32_t, std::uint32_t member, std::uint32_t after) {
  const KernelScope scope;
  Port* port = FindPort(member);
  if (port == nullptr)
    return darwin::kInvalidName;
  port->set = after;
  if (Port* set = FindPort(after))
    set->members.push_back(member);
  return darwin::kSuccess;
}

int PortType(std::uint32_t, std::uint32_t name, std::uint32_t* type) {
  const KernelScope scope;
  const Port* port = FindPort(name);
  if (port == nullptr)
    return darwin::kInvalidName;
  *type = (port->receive ? 0x20000u : 0) | (port->sends != 0 ? 0x10000u : 0) |
          (port->dead ? 0x100000u : 0);
  return darwin::kSuccess;
}

int PortGetRefs(std::uint32_t,
                std::uint32_t name,
                std::uint32_t right,
                std::uint32_t* count) {
  const KernelScope scope;
  const Port* port = FindPort(name);
  if (port == nullptr)
    return darwin::kInvalidName;
  *count = right == 1 ? port->receive : port->sends;
  return darwin::kSuccess;
}

std::uint32_t ReplyPort() {
  std::uint32_t name = 0;
  PortAllocate(0, 1, &name);
  return name;
}

std::uint32_t HostSelf() {
  const KernelScope scope;
  return HostPort();
}

std::uint32_t TaskSelf() {
  return TaskPort();
}

const darwin::Ndr ndr_record = darwin::kNdr;

}  // namespace

MACH_SHIM("_mach_msg", MachMsg);
MACH_SHIM("_mach_msg_overwrite", MachMsg);
MACH_SHIM("_mach_msg_trap", MachMsg);
MACH_SHIM("_mach_msg_send", MachMsgSend);
MACH_SHIM("_mach_port_allocate", PortAllocate);
MACH_SHIM("_mach_port_insert_right", PortInsertRight);
MACH_SHIM("_mach_port_deallocate", PortDeallocate);
MACH_SHIM("_mach_port_mod_refs", PortModRefs);
MACH_SHIM("_mach_port_destroy", PortDestroy);
MACH_SHIM("_mach_port_destruct", PortDestruct);
MACH_SHIM("_mach_port_move_member", PortMoveMember);
MACH_SHIM("_mach_port_type", PortType);
MACH_SHIM("_mach_port_get_refs", PortGetRefs);
MACH_SHIM("_mach_reply_port", ReplyPort);
MACH_SHIM("_mig_get_reply_port", ReplyPort);
MACH_SHIM("_mach_host_self", HostSelf);
MACH_SHIM("_mach_task_self", TaskSelf);
MACH_SHIM_DATA("_NDR_record", ndr_record);

}  // namespace mach_host
