// SPDX-License-Identifier: Apache-2.0
//
// Calls on the task and its threads (xnu osfmk/kern/task.c, thread_act.c,
// osfmk/i386/pcb.c for states).
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "../darwin.h"
#include "../loader.h"
#include "../shim_table.h"
#include "../violations.h"
#include "ports.h"
#include "thread.h"

namespace mach_host {
namespace {

// A thread of the host's own that does nothing of the program's.
void* LateThread(void*) {
  AttachThread();
  for (;;)
    pause();
}

void BearLateThread() {
  pthread_t thread;
  std::size_t before;
  {
    const KernelScope scope;
    before = Threads().size();
  }
  if (pthread_create(&thread, nullptr, LateThread, nullptr) != 0)
    return;
  for (;;) {
    {
      const KernelScope scope;
      if (Threads().size() > before)
        return;
    }
    sched_yield();
  }
}

// Gives a send right to each thread's port, in memory of the task that the
// caller owns.
int TaskThreads(std::uint32_t task,
                std::uint32_t** list,
                std::uint32_t* count) {
  if (task != TaskPort())
    return darwin::kInvalidArgument;
  if (PlayedFaults().task_threads_fails)
    return darwin::kResourceShortage;
  std::size_t bytes;
  {
    const KernelScope scope;
    const std::vector<Thread*>& threads = Threads();
    bytes = threads.size() * sizeof(std::uint32_t);
    void* memory = mmap(nullptr,
                        bytes,
                        PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS,
                        -1,
                        0);
    if (memory == MAP_FAILED)
      return darwin::kResourceShortage;
    *list = static_cast<std::uint32_t*>(memory);
    *count = static_cast<std::uint32_t>(threads.size());
    for (std::size_t i = 0; i < threads.size(); ++i) {
      (*list)[i] = threads[i]->port;
      ++FindPort(threads[i]->port)->sends;
    }
  }
  if (PlayedFaults().late_thread) {
    PlayedFaults().late_thread = false;
    BearLateThread();
  }
  return darwin::kSuccess;
}

Thread* ThreadOf(std::uint32_t port) {
  const KernelScope scope;
  return FindThreadByPort(port);
}

std::uint32_t ThreadSelf() {
  const KernelScope scope;
  ++FindPort(Self()->port)->sends;
  return Self()->port;
}

int ThreadSuspend(std::uint32_t port) {
  Thread* thread = ThreadOf(port);
  return thread == nullptr ? darwin::kInvalidArgument : Suspend(thread);
}

int ThreadResume(std::uint32_t port) {
  Thread* thread = ThreadOf(port);
  return thread == nullptr ? darwin::kInvalidArgument : Resume(thread);
}

// What a flavour's state is, for a stopped thread.
int StateOf(Thread* thread, int flavor, void* out, std::uint32_t* count) {
  const auto give = [&](const void* from, std::uint32_t words) {
    if (*count < words) {
      Violation("wrong_state_count",
                "thread_get_state with room for fewer words");
      return darwin::kInvalidArgument;
    }
    std::memcpy(out, from, words * 4u);
    *count = words;
    return darwin::kSuccess;
  };
  const darwin::ThreadState64 state = UserState(thread);
  switch (flavor) {
    case darwin::kThreadState64:
      return give(&state, darwin::kThreadState64Count);
    case darwin::kThreadState: {
      std::uint32_t tagged[darwin::kThreadStateCount] = {
          darwin::kThreadState64, darwin::kThreadState64Count};
      std::memcpy(tagged + 2, &state, sizeof state);
      return give(tagged, darwin::kThreadStateCount);
    }
    case darwin::kExceptionState64:
      return give(&thread->exception_state, darwin::kExceptionState64Count);
    case darwin::kFloatState64: {
      darwin::FloatState64 fpu = {};
      if (thread->context != nullptr &&
          thread->context->uc_mcontext.fpregs != nullptr)
        std::memcpy(
            fpu.fxsave, thread->context->uc_mcontext.fpregs, sizeof fpu.fxsave);
      return give(&fpu, darwin::kFloatState64Count);
    }
    default:
      return darwin::kInvalidArgument;
  }
}

// A running thread is stopped for the time of the question (thread_act.c:
// thread_get_state_internal holds it).
int ThreadGetState(std::uint32_t port,
                   int flavor,
                   void* out,
                   std::uint32_t* count) {
  Thread* thread = ThreadOf(port);
  if (thread == nullptr)
    return darwin::kInvalidArgument;
  if (thread == Self())
    return darwin::kInvalidArgument;
  const int stopped = Suspend(thread);
  if (stopped != darwin::kSuccess)
    return stopped;
  const int result = StateOf(thread, flavor, out, count);
  Resume(thread);
  return result;
}

int ThreadSetState(std::uint32_t port,
                   int flavor,
                   const void* in,
                   std::uint32_t count) {
  Thread* thread = ThreadOf(port);
  if (thread == nullptr || thread == Self())
    return darwin::kInvalidArgument;
  darwin::ThreadState64 state;
  if (flavor == darwin::kThreadState64 &&
      count == darwin::kThreadState64Count) {
    std::memcpy(&state, in, sizeof state);
  } else if (flavor == darwin::kThreadState &&
             count == darwin::kThreadStateCount) {
    std::memcpy(
        &state, static_cast<const std::uint32_t*>(in) + 2, sizeof state);
  } else {
    Violation("wrong_state_count", "thread_set_state");
    return darwin::kInvalidArgument;
  }
  Suspend(thread);
  SetUserState(thread, state);
  Resume(thread);
  return darwin::kSuccess;
}

struct Stat {
  char state = 'S';
  std::uint64_t user_ms = 0, system_ms = 0;
};

Stat ReadStat(pid_t tid) {
  Stat stat;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  std::ifstream in(path);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos)
    return stat;
  long user = 0, system = 0;
  std::sscanf(text.c_str() + end + 1,
              " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld",
              &stat.state,
              &user,
              &system);
  stat.user_ms = static_cast<std::uint64_t>(user) * 10;
  stat.system_ms = static_cast<std::uint64_t>(system) * 10;
  return stat;
}

int ThreadInfo(std::uint32_t port,
               int flavor,
               void* out,
               std::uint32_t* count) {
  Thread* thread = ThreadOf(port);
  if (thread == nullptr)
    return darwin::kInvalidArgument;
  const auto give = [&](const void* from, std::size_t bytes) {
    if (*count < bytes / 4)
      return darwin::kInvalidArgument;
    std::memcpy(out, from, bytes);
    *count = static_cast<std::uint32_t>(bytes / 4);
    return darwin::kSuccess;
  };
  const Stat stat = ReadStat(thread->tid);
  const int run_state = thread->suspend_count > 0 ? darwin::kThStateStopped
                        : stat.state == 'R'       ? darwin::kThStateRunning
                                                  : darwin::kThStateWaiting;
  switch (flavor) {
    case darwin::kThreadBasicInfo: {
      darwin::ThreadBasicInfo info = {};
      info.user_time = {static_cast<int>(stat.user_ms / 1000),
                        static_cast<int>(stat.user_ms % 1000 * 1000)};
      info.system_time = {static_cast<int>(stat.system_ms / 1000),
                          static_cast<int>(stat.system_ms % 1000 * 1000)};
      info.run_state = run_state;
      info.suspend_count = thread->suspend_count;
      return give(&info, sizeof info);
    }
    case darwin::kThreadIdentifierInfo: {
      const darwin::ThreadIdentifierInfo info = {thread->id, thread->handle, 0};
      return give(&info, sizeof info);
    }
    case darwin::kThreadExtendedInfo: {
      darwin::ThreadExtendedInfo info = {};
      info.user_time = stat.user_ms * 1000000;
      info.system_time = stat.system_ms * 1000000;
      info.run_state = run_state;
      std::memcpy(info.name, thread->name, sizeof info.name);
      return give(&info, sizeof info);
    }
    default:
      return darwin::kInvalidArgument;
  }
}

int ThreadAbortSafely(std::uint32_t) {
  return darwin::kSuccess;
}
int PidForTask(std::uint32_t task, int* pid) {
  if (task != TaskPort())
    return darwin::kFailure;
  *pid = getpid();
  return darwin::kSuccess;
}
int ThreadPolicy() {
  return darwin::kSuccess;
}

}  // namespace

MACH_SHIM("_task_threads", TaskThreads);
MACH_SHIM("_pid_for_task", PidForTask);
MACH_SHIM("_mach_thread_self", ThreadSelf);
MACH_SHIM("_thread_suspend", ThreadSuspend);
MACH_SHIM("_thread_resume", ThreadResume);
MACH_SHIM("_thread_get_state", ThreadGetState);
MACH_SHIM("_thread_set_state", ThreadSetState);
MACH_SHIM("_thread_info", ThreadInfo);
MACH_SHIM("_thread_abort_safely", ThreadAbortSafely);
MACH_SHIM("_thread_policy_set", ThreadPolicy);

}  // namespace mach_host
