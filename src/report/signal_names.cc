// SPDX-License-Identifier: Apache-2.0
//
// Signals, their codes and Mach exceptions by name. A report is read on other
// systems than it was written on, so the numbers stand here and do not come
// from <signal.h>: Linux from include/uapi/asm-generic/{signal,siginfo}.h, Mac
// from XNU's bsd/sys/signal.h and osfmk/mach/{exception_types,kern_return}.h.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "report/names.h"

namespace cairn::report {
namespace {

using format::OperatingSystem;

struct SignalInfo {
  uint8_t linux_number;  // 0: not there
  uint8_t mac_number;
  const char* name;
  const char* meaning;
};

constexpr SignalInfo kSignals[] = {
    {1, 1, "SIGHUP", "terminal closed"},
    {2, 2, "SIGINT", "interrupted"},
    {3, 3, "SIGQUIT", "quit"},
    {4, 4, "SIGILL", "illegal instruction"},
    {5, 5, "SIGTRAP", "trap or breakpoint"},
    {6, 6, "SIGABRT", "abort called"},
    {0, 7, "SIGEMT", "emulation trap"},
    {7, 10, "SIGBUS", "memory access error"},
    {8, 8, "SIGFPE", "arithmetic error"},
    {9, 9, "SIGKILL", "killed"},
    {10, 30, "SIGUSR1", "user signal 1"},
    {11, 11, "SIGSEGV", "invalid memory access"},
    {12, 31, "SIGUSR2", "user signal 2"},
    {13, 13, "SIGPIPE", "broken pipe"},
    {14, 14, "SIGALRM", "alarm"},
    {15, 15, "SIGTERM", "terminated"},
    {16, 0, "SIGSTKFLT", "coprocessor stack fault"},
    {17, 20, "SIGCHLD", "child changed"},
    {18, 19, "SIGCONT", "continued"},
    {19, 17, "SIGSTOP", "stopped"},
    {20, 18, "SIGTSTP", "stopped from the terminal"},
    {21, 21, "SIGTTIN", "terminal input"},
    {22, 22, "SIGTTOU", "terminal output"},
    {23, 16, "SIGURG", "urgent data on a socket"},
    {24, 24, "SIGXCPU", "CPU time limit exceeded"},
    {25, 25, "SIGXFSZ", "file size limit exceeded"},
    {26, 26, "SIGVTALRM", "virtual alarm"},
    {27, 27, "SIGPROF", "profiling alarm"},
    {28, 28, "SIGWINCH", "window size changed"},
    {29, 23, "SIGIO", "input or output possible"},
    {30, 0, "SIGPWR", "power failure"},
    {0, 29, "SIGINFO", "information requested"},
    {31, 12, "SIGSYS", "bad system call"},
};

// Codes of one signal, by value from 1.
constexpr const char* kLinuxIll[] = {"ILL_ILLOPC",
                                     "ILL_ILLOPN",
                                     "ILL_ILLADR",
                                     "ILL_ILLTRP",
                                     "ILL_PRVOPC",
                                     "ILL_PRVREG",
                                     "ILL_COPROC",
                                     "ILL_BADSTK",
                                     "ILL_BADIADDR"};
constexpr const char* kLinuxFpe[] = {"FPE_INTDIV",
                                     "FPE_INTOVF",
                                     "FPE_FLTDIV",
                                     "FPE_FLTOVF",
                                     "FPE_FLTUND",
                                     "FPE_FLTRES",
                                     "FPE_FLTINV",
                                     "FPE_FLTSUB",
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     "FPE_FLTUNK",
                                     "FPE_CONDTRAP"};
constexpr const char* kLinuxSegv[] = {"SEGV_MAPERR",
                                      "SEGV_ACCERR",
                                      "SEGV_BNDERR",
                                      "SEGV_PKUERR",
                                      "SEGV_ACCADI",
                                      "SEGV_ADIDERR",
                                      "SEGV_ADIPERR",
                                      "SEGV_MTEAERR",
                                      "SEGV_MTESERR",
                                      "SEGV_CPERR"};
constexpr const char* kLinuxBus[] = {"BUS_ADRALN",
                                     "BUS_ADRERR",
                                     "BUS_OBJERR",
                                     "BUS_MCEERR_AR",
                                     "BUS_MCEERR_AO"};
constexpr const char* kLinuxTrap[] = {"TRAP_BRKPT",
                                      "TRAP_TRACE",
                                      "TRAP_BRANCH",
                                      "TRAP_HWBKPT",
                                      "TRAP_UNK",
                                      "TRAP_PERF"};
constexpr const char* kLinuxSys[] = {"SYS_SECCOMP", "SYS_USER_DISPATCH"};
constexpr const char* kMacIll[] = {"ILL_ILLOPC",
                                   "ILL_ILLTRP",
                                   "ILL_PRVOPC",
                                   "ILL_ILLOPN",
                                   "ILL_ILLADR",
                                   "ILL_PRVREG",
                                   "ILL_COPROC",
                                   "ILL_BADSTK"};
constexpr const char* kMacFpe[] = {"FPE_FLTDIV",
                                   "FPE_FLTOVF",
                                   "FPE_FLTUND",
                                   "FPE_FLTRES",
                                   "FPE_FLTINV",
                                   "FPE_FLTSUB",
                                   "FPE_INTDIV",
                                   "FPE_INTOVF"};
constexpr const char* kMacSegv[] = {"SEGV_MAPERR", "SEGV_ACCERR"};
constexpr const char* kMacBus[] = {"BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR"};
constexpr const char* kMacTrap[] = {"TRAP_BRKPT", "TRAP_TRACE"};

struct CodeList {
  const char* signal;
  const char* const* linux_names;
  size_t linux_count;
  const char* const* mac_names;
  size_t mac_count;
};

constexpr CodeList kCodes[] = {
    {"SIGILL", kLinuxIll, std::size(kLinuxIll), kMacIll, std::size(kMacIll)},
    {"SIGFPE", kLinuxFpe, std::size(kLinuxFpe), kMacFpe, std::size(kMacFpe)},
    {"SIGSEGV",
     kLinuxSegv,
     std::size(kLinuxSegv),
     kMacSegv,
     std::size(kMacSegv)},
    {"SIGBUS", kLinuxBus, std::size(kLinuxBus), kMacBus, std::size(kMacBus)},
    {"SIGTRAP",
     kLinuxTrap,
     std::size(kLinuxTrap),
     kMacTrap,
     std::size(kMacTrap)},
    {"SIGSYS", kLinuxSys, std::size(kLinuxSys), nullptr, 0},
};

struct CodeName {
  int64_t code;
  const char* name;
};

// Codes that every signal may have.
constexpr CodeName kLinuxAnySignal[] = {{0, "SI_USER"},
                                        {0x80, "SI_KERNEL"},
                                        {-1, "SI_QUEUE"},
                                        {-2, "SI_TIMER"},
                                        {-3, "SI_MESGQ"},
                                        {-4, "SI_ASYNCIO"},
                                        {-5, "SI_SIGIO"},
                                        {-6, "SI_TKILL"},
                                        {-7, "SI_DETHREAD"},
                                        {-60, "SI_ASYNCNL"}};
constexpr CodeName kMacAnySignal[] = {{0x10001, "SI_USER"},
                                      {0x10002, "SI_QUEUE"},
                                      {0x10003, "SI_TIMER"},
                                      {0x10004, "SI_ASYNCIO"},
                                      {0x10005, "SI_MESGQ"}};

bool IsMac(OperatingSystem os) {
  return os == OperatingSystem::kMac || os == OperatingSystem::kIos;
}

const SignalInfo* FindSignal(OperatingSystem os, uint32_t number) {
  if (number == 0) {
    return nullptr;
  }
  for (const SignalInfo& info : kSignals) {
    if (number == (IsMac(os) ? info.mac_number : info.linux_number)) {
      return &info;
    }
  }
  return nullptr;
}

const char* SpecificCode(OperatingSystem os, const char* signal, int64_t code) {
  for (const CodeList& list : kCodes) {
    if (std::string_view(list.signal) != signal || code < 1) {
      continue;
    }
    const auto* names = IsMac(os) ? list.mac_names : list.linux_names;
    const size_t count = IsMac(os) ? list.mac_count : list.linux_count;
    return static_cast<uint64_t>(code) <= count ? names[code - 1] : nullptr;
  }
  return nullptr;
}

// The real-time signals that the C library leaves to programs (glibc, musl).
constexpr uint32_t kFirstRealTime = 34;
constexpr uint32_t kLastRealTime = 64;

template <size_t N>
const char* FindCode(const CodeName (&names)[N], int64_t code) {
  for (const CodeName& name : names) {
    if (name.code == code) {
      return name.name;
    }
  }
  return nullptr;
}

}  // namespace

std::string SignalName(OperatingSystem os, uint32_t number) {
  if (const SignalInfo* info = FindSignal(os, number)) {
    return info->name;
  }
  if (!IsMac(os) && number >= kFirstRealTime && number <= kLastRealTime) {
    const uint32_t above = number - kFirstRealTime;
    return above == 0 ? "SIGRTMIN" : "SIGRTMIN+" + std::to_string(above);
  }
  return "signal " + std::to_string(number);
}

std::string SignalCodeName(OperatingSystem os, uint32_t number, int64_t code) {
  const SignalInfo* info = FindSignal(os, number);
  const char* name =
      info != nullptr ? SpecificCode(os, info->name, code) : nullptr;
  if (name == nullptr) {
    name = IsMac(os) ? FindCode(kMacAnySignal, code)
                     : FindCode(kLinuxAnySignal, code);
  }
  return name != nullptr ? name : std::to_string(code);
}

std::string SignalMeaning(OperatingSystem os, uint32_t number) {
  const SignalInfo* info = FindSignal(os, number);
  return info != nullptr ? info->meaning : "signal";
}

std::string MachExceptionName(uint32_t exception) {
  static constexpr const char* kNames[] = {"EXC_BAD_ACCESS",
                                           "EXC_BAD_INSTRUCTION",
                                           "EXC_ARITHMETIC",
                                           "EXC_EMULATION",
                                           "EXC_SOFTWARE",
                                           "EXC_BREAKPOINT",
                                           "EXC_SYSCALL",
                                           "EXC_MACH_SYSCALL",
                                           "EXC_RPC_ALERT",
                                           "EXC_CRASH",
                                           "EXC_RESOURCE",
                                           "EXC_GUARD",
                                           "EXC_CORPSE_NOTIFY"};
  return exception >= 1 && exception <= std::size(kNames)
             ? kNames[exception - 1]
             : "exception " + std::to_string(exception);
}

std::string MachCodeName(uint32_t exception, int64_t code) {
  constexpr uint32_t kBadAccess = 1;
  if (exception == kBadAccess && code == 1) {
    return "KERN_INVALID_ADDRESS";
  }
  if (exception == kBadAccess && code == 2) {
    return "KERN_PROTECTION_FAILURE";
  }
  return "";
}

}  // namespace cairn::report
