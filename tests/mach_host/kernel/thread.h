// SPDX-License-Identifier: Apache-2.0
//
// A thread of the simulated task: its ports, signal state, and how it stops.
//
// A suspended thread sits in a signal handler of the host, on the host's own
// alternate stack, until its count is zero again (xnu osfmk/kern/thread_act.c:
// thread_suspend waits until the thread has stopped; a thread inside a system
// call stops when it leaves it, so one inside the host's kernel lock stops
// afterwards).
#ifndef MACH_HOST_KERNEL_THREAD_H_
#define MACH_HOST_KERNEL_THREAD_H_

#include <pthread.h>
#include <sys/types.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "../darwin.h"

namespace mach_host {

struct ExceptionPort {
  std::uint32_t port = 0;
  std::int32_t behavior = 0;  // with MACH_EXCEPTION_CODES
  std::int32_t flavor = 0;
};

struct Thread {
  pid_t tid = 0;
  pthread_t handle = {};
  std::uint32_t port = 0;
  std::uint64_t id = 0;
  std::uint64_t stack_top = 0, stack_size = 0;
  char name[64] = {};
  bool finished = false;

  // Suspension. `stopped` is a futex word: 1 while nothing of the program runs
  // on it.
  std::atomic<int> suspend_count = 0;
  std::atomic<std::uint32_t> stopped = 0;
  std::atomic<std::uint32_t> wake = 0;
  std::atomic<int> kernel_depth = 0;
  std::atomic<bool> suspend_pending = false;
  Thread* suspended_by = nullptr;

  // Set while it is stopped or raises an exception: what the program's
  // registers are.
  ucontext_t* context = nullptr;
  darwin::ThreadState64 user = {};
  bool translated = false;  // `user` is the state at a call into libSystem
  bool user_changed = false;
  std::atomic<bool> in_exception = false;
  darwin::ExceptionState64 exception_state = {};

  // Signals.
  std::uint32_t mask = 0;  // Darwin's bits
  darwin::StackT alternate = {0, 0, darwin::kSsDisable, 0};
  std::uint64_t restore = 0;  // Darwin ucontext that sigreturn asked for

  ExceptionPort ports[darwin::kExcTypesCount] = {};
};

// The calling thread, made known by AttachThread; never null in program code.
Thread* Self();
// Makes the calling thread one of the task's: alternate stack, port, list
// entry.
Thread* AttachThread();
void DetachThread(Thread* thread);
// Live threads, the oldest first. Call inside a KernelScope.
std::vector<Thread*>& Threads();
Thread* FindThreadByPort(std::uint32_t port);
Thread* FindThreadByHandle(pthread_t handle);
Thread* FindThreadByTid(pid_t tid);

// The kernel's lock. A thread inside it is not stopped before it has left.
class KernelScope {
 public:
  KernelScope();
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;
};

// kern_return of thread_suspend and thread_resume.
int Suspend(Thread* thread);
int Resume(Thread* thread);
// Threads that are suspended now.
int FrozenCount();
// The program's registers of a stopped thread.
darwin::ThreadState64 UserState(Thread* thread);
void SetUserState(Thread* thread, const darwin::ThreadState64& state);
// Fills `context`, `user` and `translated` of the calling thread from a host
// signal's context, and back.
void EnterStopped(Thread* self, ucontext_t* context);
void LeaveStopped(Thread* self);
// Waits while the calling thread is suspended.
void WaitWhileSuspended(Thread* self);

void FutexWait(std::atomic<std::uint32_t>* word,
               std::uint32_t value,
               std::int64_t nanoseconds);
void FutexWake(std::atomic<std::uint32_t>* word, int count);

// Installs the host's handlers for stopping threads.
void InstallSuspension();
int SuspendSignal();

}  // namespace mach_host

#endif  // MACH_HOST_KERNEL_THREAD_H_
