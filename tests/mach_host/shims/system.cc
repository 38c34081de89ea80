// SPDX-License-Identifier: Apache-2.0
//
// The rest of libSystem that differs: clocks, processes, sysctl, standard
// streams, character classes, C++'s exit list.
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../darwin.h"
#include "../kernel/exceptions.h"
#include "../kernel/signals.h"
#include "../kernel/thread.h"
#include "../loader.h"
#include "../shim_table.h"
#include "../violations.h"

extern "C" int __cxa_atexit(void (*)(void*), void*, void*);

namespace mach_host {
namespace {

// Clocks: CLOCK_MONOTONIC 6, _RAW 4, UPTIME_RAW 8, PROCESS_CPUTIME_ID 12,
// THREAD 16.
clockid_t Clock(int darwin_clock) {
  switch (darwin_clock) {
    case 0:
      return CLOCK_REALTIME;
    case 12:
      return CLOCK_PROCESS_CPUTIME_ID;
    case 16:
      return CLOCK_THREAD_CPUTIME_ID;
    default:
      return CLOCK_MONOTONIC;
  }
}
int ClockGetTime(int clock, timespec* time) {
  return clock_gettime(Clock(clock), time);
}
std::uint64_t ClockGetNanoseconds(int clock) {
  timespec time;
  clock_gettime(Clock(clock), &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}
std::uint64_t AbsoluteTime() {
  return ClockGetNanoseconds(8);
}
int TimebaseInfo(std::uint32_t* info) {
  return info[0] = info[1] = 1, 0;
}

// Processes. A status holds the signal's number of the system that reads it.
int DarwinStatus(int status) {
  if (!WIFSIGNALED(status))
    return status;
  return (status & ~0x7f) | DarwinSignal(WTERMSIG(status));
}
pid_t WaitPid(pid_t pid,
              int* status,
              int options) {  // WNOHANG 1, WUNTRACED 2: the same
  int got = 0;
  const pid_t result = waitpid(pid, &got, options);
  if (status != nullptr)
    *status = DarwinStatus(got);
  return result;
}
pid_t Wait(int* status) {
  return WaitPid(-1, status, 0);
}

pid_t Fork() {
  const pid_t pid = fork();
  if (pid == 0) {
    Self()->tid = getpid();
    Thread* self = Self();
    Threads().clear();
    Threads().push_back(self);
  }
  return pid;
}

[[noreturn]] void Exit(int code) {
  std::exit(code);
}

struct SysctlAnswer {
  const char* name;
  const char* text;     // or
  std::int64_t number;  // with
  std::size_t size;     // 4 or 8
};
const SysctlAnswer* FindAnswer(const char* name) {
  static const SysctlAnswer kAnswers[] = {
      {"kern.osversion", "21G531", 0, 0},
      {"kern.osproductversion", "12.6.5", 0, 0},
      {"kern.ostype", "Darwin", 0, 0},
      {"kern.osrelease", "21.6.0", 0, 0},
      {"kern.version", "Darwin Kernel Version 21.6.0 (simulated)", 0, 0},
      {"kern.bootsessionuuid", "9D1C0B0E-0000-4000-8000-00000000CA17", 0, 0},
      {"hw.model", "MacHost1,1", 0, 0},
      {"hw.machine", "x86_64", 0, 0},
      {"machdep.cpu.brand_string", "simulated x86_64", 0, 0},
      {"hw.ncpu", nullptr, 2, 4},
      {"hw.logicalcpu", nullptr, 2, 4},
      {"hw.physicalcpu", nullptr, 2, 4},
      {"hw.activecpu", nullptr, 2, 4},
      {"hw.pagesize", nullptr, 4096, 8},
      {"hw.memsize", nullptr, 8ll << 30, 8},
      {"hw.cputype", nullptr, 7, 4},
      {"hw.cpusubtype", nullptr, 8, 4},
      {"sysctl.proc_translated", nullptr, 0, 4}};
  for (const SysctlAnswer& answer : kAnswers)
    if (strcmp(answer.name, name) == 0)
      return &answer;
  return nullptr;
}

int Give(const void* from, std::size_t length, void* out, std::size_t* size) {
  if (out != nullptr) {
    if (*size < length) {
      errno = ENOMEM;
      return -1;
    }
    memcpy(out, from, length);
  }
  *size = length;
  return 0;
}

int SysctlByName(const char* name,
                 void* out,
                 std::size_t* size,
                 const void*,
                 std::size_t) {
  const SysctlAnswer* answer = FindAnswer(name);
  if (answer == nullptr || size == nullptr) {
    errno = ENOENT;
    return -1;
  }
  if (answer->text != nullptr)
    return Give(answer->text, strlen(answer->text) + 1, out, size);
  return Give(&answer->number, answer->size, out, size);
}

// The start of struct kinfo_proc (<sys/sysctl.h>): 648 bytes, the process's
// start time first, p_flag (P_TRACED 0x800) at 32, p_pid at 40.
int KernProc(int pid, void* out, std::size_t* size) {
  std::uint8_t info[648] = {};
  timeval start = {};
  timespec now, up;
  clock_gettime(CLOCK_REALTIME, &now);
  clock_gettime(CLOCK_BOOTTIME, &up);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::FILE* file = fopen(path, "re");
  if (file == nullptr) {
    *size = 0;
    return 0;
  }
  char text[1024] = {};
  const std::size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  unsigned long long ticks = 0;
  if (const char* end = strrchr(text, ')'); end != nullptr)
    sscanf(end + 1,
           " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
           "%*d %*d %*d %llu",
           &ticks);
  const double boot = static_cast<double>(now.tv_sec - up.tv_sec);
  start.tv_sec = static_cast<time_t>(boot) + static_cast<time_t>(ticks / 100);
  start.tv_usec = static_cast<suseconds_t>(ticks % 100 * 10000);
  const std::int32_t microseconds = static_cast<std::int32_t>(start.tv_usec);
  memcpy(info, &start.tv_sec, 8);
  memcpy(info + 8, &microseconds, 4);
  const std::int32_t flags = 4 | (PlayedFaults().debugger ? 0x800 : 0);
  memcpy(info + 32, &flags, 4);
  memcpy(info + 40, &pid, 4);
  return Give(info, sizeof info, out, size);
}

int Sysctl(int* name,
           unsigned count,
           void* out,
           std::size_t* size,
           const void*,
           std::size_t) {
  if (count == 4 && name[0] == 1 && name[1] == 14 &&
      name[2] == 1)  // KERN_PROC_PID
    return KernProc(name[3], out, size);
  if (count == 2 && name[0] == 1 && name[1] == 21) {  // KERN_BOOTTIME
    timespec now, up;
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &up);
    const std::int64_t boot[2] = {now.tv_sec - up.tv_sec, 0};
    return Give(boot, sizeof boot, out, size);
  }
  if (count == 2 && name[0] == 6 && name[1] == 3) {  // HW_NCPU
    const std::int32_t two = 2;
    return Give(&two, sizeof two, out, size);
  }
  if (count == 2 && name[0] == 1) {
    const char* known = name[1] == 65  ? "kern.osversion"
                        : name[1] == 2 ? "kern.osrelease"
                        : name[1] == 1 ? "kern.ostype"
                                       : nullptr;
    if (known != nullptr)
      return SysctlByName(known, out, size, nullptr, 0);
  }
  errno = ENOENT;
  return -1;
}

int Uname(char* out) {  // five fields of 256 bytes
  static const char* kFields[] = {"Darwin",
                                  "mach-host",
                                  "21.6.0",
                                  "Darwin Kernel Version 21.6.0 (simulated)",
                                  "x86_64"};
  for (int i = 0; i < 5; ++i)
    snprintf(out + 256 * i, 256, "%s", kFields[i]);
  return 0;
}

long Sysconf(int name) {
  switch (name) {
    case 29:  // _SC_PAGESIZE
      return 4096;
    case 57:
    case 58:  // _SC_NPROCESSORS_CONF, _ONLN
      return 2;
    case 200:  // _SC_PHYS_PAGES
      return (8ll << 30) / 4096;
    case 5:  // _SC_OPEN_MAX
      return 1024;
    case 71:  // _SC_GETPW_R_SIZE_MAX
      return 4096;
    default:
      return -1;
  }
}

int GetRLimit(int kind,
              rlimit* out) {  // AS 5, CORE 4, FSIZE 1, NOFILE 8, STACK 3
  static const int kKinds[] = {RLIMIT_CPU,
                               RLIMIT_FSIZE,
                               RLIMIT_DATA,
                               RLIMIT_STACK,
                               RLIMIT_CORE,
                               RLIMIT_AS,
                               RLIMIT_MEMLOCK,
                               RLIMIT_NPROC,
                               RLIMIT_NOFILE};
  return getrlimit(static_cast<__rlimit_resource>(kKinds[kind & 0xf]), out);
}
int SetRLimit(int kind, const rlimit* in) {
  static const int kKinds[] = {RLIMIT_CPU,
                               RLIMIT_FSIZE,
                               RLIMIT_DATA,
                               RLIMIT_STACK,
                               RLIMIT_CORE,
                               RLIMIT_AS,
                               RLIMIT_MEMLOCK,
                               RLIMIT_NPROC,
                               RLIMIT_NOFILE};
  return setrlimit(static_cast<__rlimit_resource>(kKinds[kind & 0xf]), in);
}

std::uint32_t Random32() {
  std::uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != sizeof value)
    abort();
  return value;
}
void RandomBuffer(void* out, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t got =
        getrandom(static_cast<char*>(out) + done, size - done, 0);
    if (got > 0)
      done += static_cast<std::size_t>(got);
  }
}
std::uint32_t RandomBelow(std::uint32_t bound) {
  return bound == 0 ? 0 : Random32() % bound;
}
int GetEntropy(void* out, std::size_t size) {
  return RandomBuffer(out, size), 0;
}

void Zero(void* out, std::size_t size) {
  memset(out, 0, size);
}
std::size_t CopyString(char* to, const char* from, std::size_t size) {
  const std::size_t length = strlen(from);
  if (size != 0) {
    const std::size_t kept = length < size ? length : size - 1;
    memcpy(to, from, kept);
    to[kept] = 0;
  }
  return length;
}
std::size_t AppendString(char* to, const char* from, std::size_t size) {
  const std::size_t length = strnlen(to, size);
  return length + CopyString(to + length, from, size - length);
}
void* CheckedCopy(void* to, const void* from, std::size_t size, std::size_t) {
  return memcpy(to, from, size);
}
void* CheckedMove(void* to, const void* from, std::size_t size, std::size_t) {
  return memmove(to, from, size);
}
void* CheckedSet(void* to, int value, std::size_t size, std::size_t) {
  return memset(to, value, size);
}
char* CheckedStringCopy(char* to, const char* from, std::size_t) {
  return strcpy(to, from);
}
char* CheckedStringAppend(char* to, const char* from, std::size_t) {
  return strcat(to, from);
}
int CheckedPrint(char* out,
                 std::size_t size,
                 int,
                 std::size_t,
                 const char* format,
                 ...) {
  va_list list;
  va_start(list, format);
  const int result = vsnprintf(out, size, format, list);
  va_end(list);
  return result;
}

// ioctl: TIOCGWINSZ alone is of use to a command.
int Ioctl(int descriptor, unsigned long request, void* argument) {
  if (request == 0x40087468)
    return ioctl(descriptor, TIOCGWINSZ, argument);
  errno = EINVAL;
  return -1;
}
bool AvailabilityVersionCheck() {
  return true;
}
int IsSetugid() {
  return 0;
}
char*** EnvironmentAddress() {
  return &environ;
}
const char* ProgramName() {
  return program_invocation_short_name;
}
std::uint64_t stack_guard = 0x00c0ffee00000aull;
[[noreturn]] void StackCheckFailed() {
  Violation("stack_smashed", "__stack_chk_fail");
  FindShim("_abort");
  reinterpret_cast<void (*)()>(FindShim("_abort").address)();
  __builtin_unreachable();
}
[[noreturn]] void AssertFailed(const char* function,
                               const char* file,
                               int line,
                               const char* expression) {
  fprintf(stderr,
          "Assertion failed: (%s), function %s, file %s, line %d.\n",
          expression,
          function == nullptr ? "?" : function,
          file,
          line);
  reinterpret_cast<void (*)()>(FindShim("_abort").address)();
  __builtin_unreachable();
}
int dso_handle = 0;
int AtExit(void (*function)()) {
  return atexit(function);
}

}  // namespace

MACH_SHIM("_clock_gettime", ClockGetTime);
MACH_SHIM("_clock_gettime_nsec_np", ClockGetNanoseconds);
MACH_SHIM("_mach_absolute_time", AbsoluteTime);
MACH_SHIM("_mach_continuous_time", AbsoluteTime);
MACH_SHIM("_mach_timebase_info", TimebaseInfo);
MACH_SHIM("_waitpid", WaitPid);
MACH_SHIM("_wait", Wait);
MACH_SHIM("_fork", Fork);
MACH_SHIM("_exit", Exit);
MACH_SHIM("__Exit", _exit);
MACH_SHIM("_atexit", AtExit);
MACH_SHIM("___cxa_atexit", __cxa_atexit);
MACH_SHIM("_sysctl", Sysctl);
MACH_SHIM("_sysctlbyname", SysctlByName);
MACH_SHIM("_uname", Uname);
MACH_SHIM("_sysconf", Sysconf);
MACH_SHIM("_getrlimit", GetRLimit);
MACH_SHIM("_setrlimit", SetRLimit);
MACH_SHIM("_arc4random", Random32);
MACH_SHIM("_arc4random_buf", RandomBuffer);
MACH_SHIM("_arc4random_uniform", RandomBelow);
MACH_SHIM("_getentropy", GetEntropy);
MACH_SHIM("___bzero", Zero);
MACH_SHIM("_bzero", Zero);
MACH_SHIM("_strlcpy", CopyString);
MACH_SHIM("_strlcat", AppendString);
MACH_SHIM("___memcpy_chk", CheckedCopy);
MACH_SHIM("___memmove_chk", CheckedMove);
MACH_SHIM("___memset_chk", CheckedSet);
MACH_SHIM("___strcpy_chk", CheckedStringCopy);
MACH_SHIM("___strcat_chk", CheckedStringAppend);
MACH_SHIM("___snprintf_chk", CheckedPrint);
MACH_SHIM("_ioctl", Ioctl);
MACH_SHIM("_issetugid", IsSetugid);
MACH_SHIM("__availability_version_check", AvailabilityVersionCheck);
MACH_SHIM("__NSGetEnviron", EnvironmentAddress);
MACH_SHIM("_getprogname", ProgramName);
MACH_SHIM("___stack_chk_fail", StackCheckFailed);
MACH_SHIM("___assert_rtn", AssertFailed);
MACH_SHIM_DATA("___stack_chk_guard", stack_guard);
MACH_SHIM_DATA("___stdinp", stdin);
MACH_SHIM_DATA("___stdoutp", stdout);
MACH_SHIM_DATA("___stderrp", stderr);
MACH_SHIM_DATA("_environ", environ);
MACH_SHIM_DATA("___dso_handle", dso_handle);

}  // namespace mach_host
