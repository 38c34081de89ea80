// SPDX-License-Identifier: Apache-2.0
//
// The task's port names. One task, so a name is the port: rights are counted,
// queues belong to ports with a receive right (xnu osfmk/ipc/ipc_right.c,
// ipc_mqueue.c).
#ifndef MACH_HOST_KERNEL_PORTS_H_
#define MACH_HOST_KERNEL_PORTS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace mach_host {

struct Thread;

struct Message {
  std::vector<std::uint8_t> bytes;
};

enum class PortKind { kReceive, kThread, kTask, kHost, kReply, kSet };

struct Port {
  std::uint32_t name = 0;
  PortKind kind = PortKind::kReceive;
  bool receive = false;  // the receive right is held by the task
  bool dead = false;
  std::uint32_t sends = 0;  // user references to send rights
  Thread* thread = nullptr;
  std::deque<Message> queue;
  std::atomic<std::uint32_t> changed =
      0;                               // futex word: a message came, or it died
  std::uint32_t set = 0;               // the port set that it belongs to
  std::vector<std::uint32_t> members;  // of a set
};

// All of these inside a KernelScope.
Port* FindPort(std::uint32_t name);
Port* NewPort(PortKind kind);
std::uint32_t MakeThreadPort(Thread* thread);
void KillThreadPort(std::uint32_t name);
// The receive right goes: queued messages' reply ports hear of it.
void DestroyReceive(Port* port);
std::map<std::uint32_t, Port*>& Ports();

// The task's own port and the host's.
std::uint32_t TaskPort();
std::uint32_t HostPort();

// Puts a message on `name` as the kernel would; false: nobody can receive
// there.
bool Post(std::uint32_t name, Message message);
// A send-once right of the kernel's on which a reply is awaited.
Port* NewReplyPort();

}  // namespace mach_host

#endif  // MACH_HOST_KERNEL_PORTS_H_
