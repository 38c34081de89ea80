// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "../loader.h"
#include "../shim_table.h"
#include "../violations.h"
#include "exceptions.h"
#include "memory.h"
#include "thread.h"

// Runs the program's handler, then gives the context back. rbx: the ucontext.
asm(R"(
.text
.globl mach_host_signal_trampoline
.type mach_host_signal_trampoline, @function
mach_host_signal_trampoline:
  call *%rax
  mov %rbx, %rdi
  call mach_host_sigreturn
  ud2
)");
extern "C" void mach_host_signal_trampoline();
extern "C" void mach_host_sigreturn(std::uint64_t context);

namespace mach_host {
namespace {

struct Pair {
  int darwin, linux;
};
constexpr Pair kPairs[] = {
    {1, SIGHUP},     {2, SIGINT},   {3, SIGQUIT},   {4, SIGILL},
    {5, SIGTRAP},    {6, SIGABRT},  {8, SIGFPE},    {9, SIGKILL},
    {10, SIGBUS},    {11, SIGSEGV}, {12, SIGSYS},   {13, SIGPIPE},
    {14, SIGALRM},   {15, SIGTERM}, {16, SIGURG},   {17, SIGSTOP},
    {18, SIGTSTP},   {19, SIGCONT}, {20, SIGCHLD},  {21, SIGTTIN},
    {22, SIGTTOU},   {23, SIGIO},   {24, SIGXCPU},  {25, SIGXFSZ},
    {26, SIGVTALRM}, {27, SIGPROF}, {28, SIGWINCH}, {30, SIGUSR1},
    {31, SIGUSR2}};
constexpr std::uint64_t kDefault = 0, kIgnore = 1;

darwin::SigAction actions[32];

constexpr std::uint32_t Bit(int signal) {
  return 1u << (signal - 1);
}

bool IsFault(int linux_signal) {
  return linux_signal == SIGSEGV || linux_signal == SIGBUS ||
         linux_signal == SIGILL || linux_signal == SIGFPE ||
         linux_signal == SIGTRAP || linux_signal == SIGSYS;
}

// The host's own signals and the faults are never blocked for Linux: what the
// program asked for decides in DeliverSignal.
sigset_t LinuxMask(std::uint32_t mask) {
  sigset_t set;
  sigemptyset(&set);
  for (const Pair& pair : kPairs)
    if ((mask & Bit(pair.darwin)) != 0 && !IsFault(pair.linux))
      sigaddset(&set, pair.linux);
  return set;
}

int RestoreSignal() {
  return SIGRTMIN + 6;
}

[[noreturn]] void DieBy(int darwin_signal) {
  const int signal = LinuxSignal(darwin_signal);
  ::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
  for (;;)
    pause();
}

// What is put on the program's stack, from the top down.
struct Frame {
  darwin::SigInfo info;
  darwin::UContext context;
  alignas(16) darwin::MContext64 machine;
};

bool OnAlternate(const Thread& thread, std::uint64_t sp) {
  return sp - thread.alternate.sp < thread.alternate.size;
}

void FillMachine(const Thread& self,
                 const ucontext_t& from,
                 darwin::MContext64* to) {
  to->es = self.exception_state;
  const greg_t* r = from.uc_mcontext.gregs;
  const auto u = [&](int i) { return static_cast<std::uint64_t>(r[i]); };
  to->ss = {u(REG_RAX), u(REG_RBX), u(REG_RCX), u(REG_RDX), u(REG_RDI),
            u(REG_RSI), u(REG_RBP), u(REG_RSP), u(REG_R8),  u(REG_R9),
            u(REG_R10), u(REG_R11), u(REG_R12), u(REG_R13), u(REG_R14),
            u(REG_R15), u(REG_RIP), u(REG_EFL), 0x2b,       0,
            0};
  if (from.uc_mcontext.fpregs != nullptr)
    std::memcpy(to->fs.fxsave, from.uc_mcontext.fpregs, sizeof to->fs.fxsave);
}

void OnRestore(int, siginfo_t*, void* raw) {
  auto* context = static_cast<ucontext_t*>(raw);
  Thread* self = Self();
  darwin::UContext saved;
  darwin::MContext64 machine;
  if (!CopyChecked(reinterpret_cast<std::uint64_t>(&saved),
                   self->restore,
                   sizeof saved) ||
      !CopyChecked(reinterpret_cast<std::uint64_t>(&machine),
                   saved.mcontext,
                   sizeof machine))
    DieBy(darwin::kSigIll);
  greg_t* r = context->uc_mcontext.gregs;
  const darwin::ThreadState64& s = machine.ss;
  r[REG_RAX] = s.rax, r[REG_RBX] = s.rbx, r[REG_RCX] = s.rcx,
  r[REG_RDX] = s.rdx;
  r[REG_RDI] = s.rdi, r[REG_RSI] = s.rsi, r[REG_RBP] = s.rbp,
  r[REG_RSP] = s.rsp;
  r[REG_R8] = s.r8, r[REG_R9] = s.r9, r[REG_R10] = s.r10, r[REG_R11] = s.r11;
  r[REG_R12] = s.r12, r[REG_R13] = s.r13, r[REG_R14] = s.r14,
  r[REG_R15] = s.r15;
  r[REG_RIP] = s.rip, r[REG_EFL] = s.rflags;
  if (context->uc_mcontext.fpregs != nullptr)
    std::memcpy(context->uc_mcontext.fpregs, machine.fs.fxsave, 416);
  self->mask = saved.sigmask;
  context->uc_sigmask = LinuxMask(saved.sigmask);
}

// A signal of the hardware: exception first, signal after (ux_exception.c).
void OnFault(int signal, siginfo_t* info, void* raw) {
  const int saved = errno;
  auto* context = static_cast<ucontext_t*>(raw);
  Thread* self = Self();
  if (self == nullptr || self->kernel_depth > 0) {
    Violation("host", "a fault inside the host itself");
    _exit(99);
  }
  darwin::SigInfo out = {};
  const bool hardware =
      info->si_code > 0 && info->si_code != SI_KERNEL + 0x1000;
  if (!hardware) {
    out.signo = DarwinSignal(signal);
    out.code = darwin::kSiUser;
    out.pid = info->si_pid;
    out.uid = info->si_uid;
    DeliverSignal(out.signo, out, context, false);
    errno = saved;
    return;
  }
  MachException exception = Classify(signal, *info, *context);
  if (exception.kind != 0 && RaiseException(exception, context)) {
    errno = saved;
    return;
  }
  int bsd = exception.kind == 0 ? DarwinSignal(signal) : exception.signal;
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  // A protection failure in the guard below the process's own stack is SIGSEGV;
  // other threads' stacks are not looked at (ux_exception.c: p->user_stack).
  const std::uint64_t bottom = self->stack_top - self->stack_size;
  if (bsd == darwin::kSigBus && self->tid == getpid() &&
      address < bottom + 0x1000 && bottom - address < 0x100000)
    bsd = darwin::kSigSegv;
  out.signo = bsd;
  out.addr =
      exception.kind == darwin::kExcBadAccess
          ? static_cast<std::uint64_t>(exception.subcode)
          : static_cast<std::uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  switch (bsd) {
    case darwin::kSigSegv:
      out.code = info->si_code == SEGV_MAPERR ? darwin::kSegvMapErr
                                              : darwin::kSegvAccErr;
      break;
    case darwin::kSigFpe:
      out.code =
          info->si_code == FPE_INTDIV ? darwin::kFpeIntDiv : darwin::kFpeFltDiv;
      break;
    default:
      out.code = 1;
  }
  DeliverSignal(bsd, out, context, true);
  errno = saved;
}

// A signal that a process sent, for which the program has a handler.
void OnSignal(int signal, siginfo_t* info, void* raw) {
  const int saved = errno;
  darwin::SigInfo out = {};
  out.signo = DarwinSignal(signal);
  out.code = darwin::kSiUser;
  out.pid = info->si_pid;
  out.uid = info->si_uid;
  DeliverSignal(out.signo, out, static_cast<ucontext_t*>(raw), false);
  errno = saved;
}

int SetError(int darwin_error) {
  errno = darwin_error;  // the numbers up to 34 are the same
  return -1;
}

int SigAction(int signal,
              const darwin::SigAction* action,
              darwin::SigAction* old) {
  const int number = LinuxSignal(signal);
  if (number == 0 || signal == darwin::kSigKill || signal == darwin::kSigStop)
    return SetError(EINVAL);
  if (old != nullptr)
    *old = actions[signal];
  if (action == nullptr)
    return 0;
  actions[signal] = *action;
  if (IsFault(number))
    return 0;
  struct sigaction host = {};
  if (action->handler == kDefault || action->handler == kIgnore) {
    host.sa_handler = action->handler == kDefault ? SIG_DFL : SIG_IGN;
  } else {
    host.sa_sigaction = OnSignal;
    sigaddset(&host.sa_mask, SuspendSignal());
    host.sa_flags =
        SA_SIGINFO | SA_ONSTACK |
        ((action->flags & darwin::kSaRestart) != 0 ? SA_RESTART : 0);
  }
  return sigaction(number, &host, nullptr);
}

std::uint64_t Signal(int signal, std::uint64_t handler) {
  darwin::SigAction old = {};
  const darwin::SigAction action = {handler, 0, darwin::kSaRestart};
  return SigAction(signal, &action, &old) == 0 ? old.handler : ~0ull;
}

int SigAltStack(const darwin::StackT* stack, darwin::StackT* old) {
  Thread* self = Self();
  if (old != nullptr) {
    *old = self->alternate;
    if (self->alternate.size == 0)
      old->flags = darwin::kSsDisable;
  }
  if (stack == nullptr)
    return 0;
  if ((stack->flags & darwin::kSsDisable) != 0) {
    self->alternate = {0, 0, darwin::kSsDisable, 0};
    return 0;
  }
  if (stack->size < 32768)
    return SetError(ENOMEM);  // MINSIGSTKSZ there
  self->alternate = *stack;
  self->alternate.flags = 0;
  return 0;
}

int SigMask(int how, const std::uint32_t* set, std::uint32_t* old) {
  Thread* self = Self();
  if (old != nullptr)
    *old = self->mask;
  if (set == nullptr)
    return 0;
  constexpr std::uint32_t kNever =
      Bit(darwin::kSigKill) | Bit(darwin::kSigStop);
  switch (how) {
    case darwin::kSigBlock:
      self->mask |= *set;
      break;
    case darwin::kSigUnblock:
      self->mask &= ~*set;
      break;
    case darwin::kSigSetMask:
      self->mask = *set;
      break;
    default:
      return EINVAL;
  }
  self->mask &= ~kNever;
  const sigset_t linux = LinuxMask(self->mask);
  pthread_sigmask(SIG_SETMASK, &linux, nullptr);
  return 0;
}

int SigProcMask(int how, const std::uint32_t* set, std::uint32_t* old) {
  const int error = SigMask(how, set, old);
  return error == 0 ? 0 : SetError(error);
}

int SigPending(std::uint32_t* set) {
  sigset_t pending;
  sigpending(&pending);
  *set = 0;
  for (const Pair& pair : kPairs)
    if (sigismember(&pending, pair.linux) == 1)
      *set |= Bit(pair.darwin);
  return 0;
}

int SigSuspend(const std::uint32_t* set) {
  const sigset_t linux = LinuxMask(*set);
  return sigsuspend(&linux);
}

int SigWait(const std::uint32_t* set, int* signal) {
  const sigset_t linux = LinuxMask(*set);
  int number = 0;
  const int error = sigwait(&linux, &number);
  *signal = DarwinSignal(number);
  return error;
}

int Kill(pid_t pid, int signal) {
  const int number = LinuxSignal(signal);
  if (signal != 0 && number == 0)
    return SetError(EINVAL);
  return kill(pid, number);
}

int PthreadKill(pthread_t thread, int signal) {
  const int number = LinuxSignal(signal);
  if (signal != 0 && number == 0)
    return EINVAL;
  return pthread_kill(thread, number);
}

int Raise(int signal) {
  return PthreadKill(pthread_self(), signal) == 0 ? 0 : -1;
}

// libsystem_c's abort: unblocked, raised at this thread, then by the default
// action.
[[noreturn]] void Abort() {
  std::uint32_t set = Bit(darwin::kSigAbrt);
  SigMask(darwin::kSigUnblock, &set, nullptr);
  Raise(darwin::kSigAbrt);
  DieBy(darwin::kSigAbrt);
}

int SigEmptySet(std::uint32_t* set) {
  return *set = 0, 0;
}
int SigFillSet(std::uint32_t* set) {
  return *set = ~0u, 0;
}
int SigAddSet(std::uint32_t* set, int signal) {
  return *set |= Bit(signal), 0;
}
int SigDelSet(std::uint32_t* set, int signal) {
  return *set &= ~Bit(signal), 0;
}
int SigIsMember(const std::uint32_t* set, int signal) {
  return (*set & Bit(signal)) != 0;
}

}  // namespace

int LinuxSignal(int darwin_signal) {
  for (const Pair& pair : kPairs)
    if (pair.darwin == darwin_signal)
      return pair.linux;
  return 0;
}

int DarwinSignal(int linux_signal) {
  for (const Pair& pair : kPairs)
    if (pair.linux == linux_signal)
      return pair.darwin;
  return 0;
}

void DeliverSignal(int signal,
                   const darwin::SigInfo& info,
                   ucontext_t* context,
                   bool hardware) {
  Thread* self = Self();
  darwin::SigAction& action = actions[signal];
  const bool blocked = (self->mask & Bit(signal)) != 0;
  // A synchronous signal that is blocked or ignored kills (kern_sig.c:
  // threadsignal).
  if (action.handler == kDefault ||
      (hardware && (blocked || action.handler == kIgnore))) {
    if (hardware && DarwinSignal(LinuxSignal(signal)) == signal) {
      CheckLeaks();
      ::signal(LinuxSignal(signal), SIG_DFL);
      if (LinuxSignal(signal) == SIGTRAP)
        DieBy(signal);
      // Back to the instruction: it faults again and the process dies with the
      // hardware's own siginfo, if the two systems name this fault alike.
    }
    if (hardware) {
      const auto again = context->uc_mcontext.gregs[REG_TRAPNO];
      const bool same =
          (signal == darwin::kSigSegv && (again == 14 || again == 13)) ||
          signal == darwin::kSigIll || signal == darwin::kSigFpe;
      if (same)
        return;
    }
    DieBy(signal);
  }
  if (action.handler == kIgnore)
    return;
  const std::uint64_t handler = action.handler;
  auto sp = static_cast<std::uint64_t>(context->uc_mcontext.gregs[REG_RSP]);
  const bool alternate = (action.flags & darwin::kSaOnStack) != 0 &&
                         (self->alternate.flags & darwin::kSsDisable) == 0 &&
                         self->alternate.size != 0 && !OnAlternate(*self, sp);
  sp = alternate ? self->alternate.sp + self->alternate.size : sp - 128;
  sp = (sp - sizeof(Frame)) & ~63ull;
  Frame frame = {};
  frame.info = info;
  frame.context.onstack = alternate ? 1 : 0;
  frame.context.sigmask = self->mask;
  frame.context.stack = self->alternate;
  frame.context.mcsize = sizeof(darwin::MContext64);
  frame.context.mcontext = sp + offsetof(Frame, machine);
  FillMachine(*self, *context, &frame.machine);
  if (!CopyChecked(sp, reinterpret_cast<std::uint64_t>(&frame), sizeof frame)) {
    // No room for the frame: SIGILL with the default action (unix_signal.c:
    // sendsig).
    DieBy(darwin::kSigIll);
  }
  self->mask |= action.mask;
  if ((action.flags & darwin::kSaNoDefer) == 0)
    self->mask |= Bit(signal);
  if ((action.flags & darwin::kSaResetHand) != 0) {
    darwin::SigAction none = {};
    SigAction(signal, &none, nullptr);
  }
  greg_t* r = context->uc_mcontext.gregs;
  r[REG_RIP] = reinterpret_cast<greg_t>(&mach_host_signal_trampoline);
  r[REG_RSP] = static_cast<greg_t>(sp);
  r[REG_RAX] = static_cast<greg_t>(handler);
  r[REG_RBX] = static_cast<greg_t>(sp + offsetof(Frame, context));
  r[REG_RDI] = signal;
  r[REG_RSI] = static_cast<greg_t>(sp + offsetof(Frame, info));
  r[REG_RDX] = r[REG_RBX];
  r[REG_RCX] = 0;
  r[REG_EFL] &= ~0x400;
  context->uc_sigmask = LinuxMask(self->mask);
}

void InstallSignals() {
  struct sigaction action = {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  // Not stopped between the fault and the exception, which counts as stopped
  // itself.
  sigaddset(&action.sa_mask, SuspendSignal());
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS})
    sigaction(signal, &action, nullptr);
  action.sa_sigaction = OnRestore;
  sigfillset(&action.sa_mask);
  sigaction(RestoreSignal(), &action, nullptr);
}

MACH_SHIM("_sigaction", SigAction);
MACH_SHIM("_signal", Signal);
MACH_SHIM("_sigaltstack", SigAltStack);
MACH_SHIM("_sigprocmask", SigProcMask);
MACH_SHIM("_pthread_sigmask", SigMask);
MACH_SHIM("_sigpending", SigPending);
MACH_SHIM("_sigsuspend", SigSuspend);
MACH_SHIM("_sigwait", SigWait);
MACH_SHIM("_kill", Kill);
MACH_SHIM("_pthread_kill", PthreadKill);
MACH_SHIM("___pthread_kill", PthreadKill);
MACH_SHIM("_raise", Raise);
MACH_SHIM("_abort", Abort);
MACH_SHIM("_sigemptyset", SigEmptySet);
MACH_SHIM("_sigfillset", SigFillSet);
MACH_SHIM("_sigaddset", SigAddSet);
MACH_SHIM("_sigdelset", SigDelSet);
MACH_SHIM("_sigismember", SigIsMember);

}  // namespace mach_host

// Back to the context that the handler got (possibly edited), as sigreturn
// does. The frame is dropped by the context itself.
extern "C" void mach_host_sigreturn(std::uint64_t context) {
  mach_host::Thread* self = mach_host::Self();
  self->restore = context;
  syscall(SYS_tgkill, getpid(), self->tid, SIGRTMIN + 6);
  for (;;)
    pause();
}
