// SPDX-License-Identifier: Apache-2.0
#include "ports.h"

#include <cstring>

#include "../darwin.h"
#include "../shim_table.h"
#include "../violations.h"
#include "thread.h"

namespace mach_host {
namespace {

std::uint32_t next_name = 0x103;
std::uint32_t task_port = 0;

// The kernel fills it before main (libsyscall/mach/mach_init.c):
// `mach_task_self()` reads this variable.
std::uint32_t task_self_variable = 0;
MACH_SHIM_DATA("_mach_task_self_", task_self_variable);

}  // namespace

std::map<std::uint32_t, Port*>& Ports() {
  static auto* ports = new std::map<std::uint32_t, Port*>;
  return *ports;
}

Port* FindPort(std::uint32_t name) {
  const auto found = Ports().find(name);
  return found == Ports().end() ? nullptr : found->second;
}

Port* NewPort(PortKind kind) {
  auto* port = new Port;
  port->name = next_name;
  next_name += 0x100;
  port->kind = kind;
  Ports()[port->name] = port;
  return port;
}

std::uint32_t MakeThreadPort(Thread* thread) {
  Port* port = NewPort(PortKind::kThread);
  port->thread = thread;
  return port->name;
}

void KillThreadPort(std::uint32_t name) {
  Port* port = FindPort(name);
  if (port == nullptr)
    return;
  port->dead = true;
  port->thread = nullptr;
}

std::uint32_t TaskPort() {
  if (task_port == 0) {
    Port* port = NewPort(PortKind::kTask);
    port->sends = 1;
    task_port = task_self_variable = port->name;
  }
  return task_port;
}

std::uint32_t HostPort() {
  static std::uint32_t name = 0;
  if (name == 0)
    name = NewPort(PortKind::kHost)->name;
  return name;
}

Port* NewReplyPort() {
  return NewPort(PortKind::kReply);
}

bool Post(std::uint32_t name, Message message) {
  Port* port = FindPort(name);
  if (port == nullptr || port->dead)
    return false;
  if (port->kind == PortKind::kReceive && !port->receive)
    return false;
  port->queue.push_back(std::move(message));
  port->changed.fetch_add(1);
  FutexWake(&port->changed, 1 << 30);
  if (Port* set = port->set != 0 ? FindPort(port->set) : nullptr) {
    set->changed.fetch_add(1);
    FutexWake(&set->changed, 1 << 30);
  }
  return true;
}

// A message that nobody will read takes its reply right with it: the kernel's
// waiter gets MACH_SEND_INVALID_DEST's sibling, a send-once notification, here
// an empty message.
void DestroyReceive(Port* port) {
  port->receive = false;
  port->dead = true;
  for (Message& message : port->queue) {
    darwin::MsgHeader header;
    std::memcpy(&header, message.bytes.data(), sizeof header);
    Port* reply = FindPort(header.remote);
    if (reply != nullptr && reply->kind == PortKind::kReply)
      Post(reply->name, {});
  }
  port->queue.clear();
  port->changed.fetch_add(1);
  FutexWake(&port->changed, 1 << 30);
}

}  // namespace mach_host
