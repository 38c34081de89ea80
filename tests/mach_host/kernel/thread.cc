// SPDX-License-Identifier: Apache-2.0
#include "thread.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <cstdlib>
#include <cstring>

#include "../loader.h"
#include "ports.h"

namespace mach_host {
namespace {

thread_local Thread* self = nullptr;
std::atomic<std::uint32_t> kernel_lock =
    0;  // 0 free, 1 held, 2 held and wanted
std::atomic<int> frozen_count = 0;
std::uint64_t next_id = 1000;

constexpr std::size_t kHostStack = 256 * 1024;

void ReadRegisters(const ucontext_t& from, darwin::ThreadState64* to) {
  const greg_t* r = from.uc_mcontext.gregs;
  const auto u = [&](int i) { return static_cast<std::uint64_t>(r[i]); };
  *to = {u(REG_RAX), u(REG_RBX), u(REG_RCX), u(REG_RDX), u(REG_RDI), u(REG_RSI),
         u(REG_RBP), u(REG_RSP), u(REG_R8),  u(REG_R9),  u(REG_R10), u(REG_R11),
         u(REG_R12), u(REG_R13), u(REG_R14), u(REG_R15), u(REG_RIP), u(REG_EFL),
         0x2b,       0,          0};
}

void WriteRegisters(const darwin::ThreadState64& from, ucontext_t* to) {
  greg_t* r = to->uc_mcontext.gregs;
  r[REG_RAX] = from.rax, r[REG_RBX] = from.rbx, r[REG_RCX] = from.rcx,
  r[REG_RDX] = from.rdx;
  r[REG_RDI] = from.rdi, r[REG_RSI] = from.rsi, r[REG_RBP] = from.rbp,
  r[REG_RSP] = from.rsp;
  r[REG_R8] = from.r8, r[REG_R9] = from.r9, r[REG_R10] = from.r10,
  r[REG_R11] = from.r11;
  r[REG_R12] = from.r12, r[REG_R13] = from.r13, r[REG_R14] = from.r14,
  r[REG_R15] = from.r15;
  r[REG_RIP] = from.rip, r[REG_EFL] = from.rflags;
}

struct CallSearch {
  darwin::ThreadState64* state;
  bool found = false;
};

// The first frame of the program: its registers at the call that led into the
// host, seen from a function of libSystem whose first instruction is next.
_Unwind_Reason_Code OnFrame(_Unwind_Context* frame, void* argument) {
  auto* search = static_cast<CallSearch*>(argument);
  const std::uint64_t ip = _Unwind_GetIP(frame);
  if (!InProgram(ip))
    return _URC_NO_REASON;
  darwin::ThreadState64* s = search->state;
  s->rip = SystemCallAddress();
  // libgcc's "CFA" of a frame is its stack pointer behind the call.
  s->rsp = _Unwind_GetCFA(frame) - 8;
  s->rbx = _Unwind_GetGR(frame, 3), s->rbp = _Unwind_GetGR(frame, 6);
  s->r12 = _Unwind_GetGR(frame, 12), s->r13 = _Unwind_GetGR(frame, 13);
  s->r14 = _Unwind_GetGR(frame, 14), s->r15 = _Unwind_GetGR(frame, 15);
  search->found = true;
  return _URC_END_OF_STACK;
}

// Parks the calling thread until nobody holds it suspended.
void OnSuspendSignal(int, siginfo_t*, void* raw) {
  const int saved = errno;
  Thread* thread = self;
  if (thread == nullptr)
    return;
  if (thread->kernel_depth > 0) {
    thread->suspend_pending = true;
  } else if (thread->suspend_count > 0 && !thread->in_exception) {
    EnterStopped(thread, static_cast<ucontext_t*>(raw));
    WaitWhileSuspended(thread);
    LeaveStopped(thread);
  }
  errno = saved;
}

}  // namespace

int SuspendSignal() {
  return SIGRTMIN + 5;
}

void FutexWait(std::atomic<std::uint32_t>* word,
               std::uint32_t value,
               std::int64_t nanoseconds) {
  timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  syscall(SYS_futex,
          word,
          FUTEX_WAIT_PRIVATE,
          value,
          nanoseconds < 0 ? nullptr : &time,
          nullptr,
          0);
}

void FutexWake(std::atomic<std::uint32_t>* word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

KernelScope::KernelScope() {
  if (self != nullptr)
    self->kernel_depth.fetch_add(1);
  std::uint32_t expected = 0;
  if (kernel_lock.compare_exchange_strong(expected, 1))
    return;
  while (kernel_lock.exchange(2) != 0)
    FutexWait(&kernel_lock, 2, -1);
}

KernelScope::~KernelScope() {
  if (kernel_lock.exchange(0) == 2)
    FutexWake(&kernel_lock, 1);
  if (self == nullptr || self->kernel_depth.fetch_sub(1) != 1)
    return;
  if (self->suspend_pending.exchange(false))
    syscall(SYS_tgkill, getpid(), self->tid, SuspendSignal());
}

Thread* Self() {
  return self;
}

std::vector<Thread*>& Threads() {
  static auto* threads = new std::vector<Thread*>;
  return *threads;
}

Thread* FindThreadByPort(std::uint32_t port) {
  for (Thread* thread : Threads())
    if (thread->port == port)
      return thread;
  return nullptr;
}

Thread* FindThreadByHandle(pthread_t handle) {
  for (Thread* thread : Threads())
    if (pthread_equal(thread->handle, handle) != 0)
      return thread;
  return nullptr;
}

Thread* FindThreadByTid(pid_t tid) {
  for (Thread* thread : Threads())
    if (thread->tid == tid)
      return thread;
  return nullptr;
}

Thread* AttachThread() {
  auto* thread = new Thread;
  thread->tid = static_cast<pid_t>(syscall(SYS_gettid));
  thread->handle = pthread_self();
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* low = nullptr;
    std::size_t size = 0;
    pthread_attr_getstack(&attributes, &low, &size);
    thread->stack_top = reinterpret_cast<std::uint64_t>(low) + size;
    thread->stack_size = size;
    pthread_attr_destroy(&attributes);
  }
  void* stack = mmap(nullptr,
                     kHostStack,
                     PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS,
                     -1,
                     0);
  const stack_t alternate = {stack, 0, kHostStack};
  sigaltstack(&alternate, nullptr);
  const KernelScope scope;
  thread->id = next_id++;
  thread->port = MakeThreadPort(thread);
  thread->kernel_depth =
      1;  // the scope's, which began before the thread was known
  Threads().push_back(thread);
  self = thread;
  return thread;
}

void DetachThread(Thread* thread) {
  const KernelScope scope;
  std::erase(Threads(), thread);
  thread->finished = true;
  KillThreadPort(thread->port);
}

int Suspend(Thread* thread) {
  if (thread->finished)
    return darwin::kTerminated;
  if (thread->suspend_count.fetch_add(1) != 0)
    return darwin::kSuccess;
  frozen_count.fetch_add(1);
  thread->suspended_by = self;
  if (thread == self) {
    syscall(SYS_tgkill, getpid(), thread->tid, SuspendSignal());
    return darwin::kSuccess;
  }
  if (thread->in_exception)
    return darwin::kSuccess;
  if (syscall(SYS_tgkill, getpid(), thread->tid, SuspendSignal()) != 0)
    return darwin::kTerminated;
  while (thread->stopped == 0 && !thread->in_exception && !thread->finished)
    FutexWait(&thread->stopped, 0, 1000000);
  return darwin::kSuccess;
}

int Resume(Thread* thread) {
  if (thread->suspend_count == 0)
    return darwin::kFailure;
  if (thread->suspend_count.fetch_sub(1) != 1)
    return darwin::kSuccess;
  frozen_count.fetch_sub(1);
  thread->suspended_by = nullptr;
  thread->wake.fetch_add(1);
  FutexWake(&thread->wake, 1 << 30);
  return darwin::kSuccess;
}

int FrozenCount() {
  return frozen_count;
}

void EnterStopped(Thread* thread, ucontext_t* context) {
  thread->context = context;
  thread->translated = false;
  thread->user_changed = false;
  ReadRegisters(*context, &thread->user);
  if (!InProgram(thread->user.rip) && !InSystem(thread->user.rip)) {
    darwin::ThreadState64 at_call = thread->user;
    CallSearch search = {&at_call};
    _Unwind_Backtrace(OnFrame, &search);
    if (search.found) {
      thread->user = at_call;
      thread->translated = true;
    }
  }
  thread->stopped = 1;
  FutexWake(&thread->stopped, 1 << 30);
}

void LeaveStopped(Thread* thread) {
  if (thread->user_changed)
    WriteRegisters(thread->user, thread->context);
  thread->stopped = 0;
  thread->context = nullptr;
}

void WaitWhileSuspended(Thread* thread) {
  for (;;) {
    const std::uint32_t seen = thread->wake;
    if (thread->suspend_count == 0)
      return;
    FutexWait(&thread->wake, seen, -1);
  }
}

darwin::ThreadState64 UserState(Thread* thread) {
  return thread->user;
}

void SetUserState(Thread* thread, const darwin::ThreadState64& state) {
  thread->user = state;
  thread->user_changed = true;
}

void InstallSuspension() {
  struct sigaction action = {};
  action.sa_sigaction = OnSuspendSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigfillset(&action.sa_mask);
  sigaction(SuspendSignal(), &action, nullptr);
}

}  // namespace mach_host
