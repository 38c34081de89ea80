// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/crasher_options.h"

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/crash/crasher.h"

namespace cairn::crash {
namespace {

std::string Get(const Options& options, const char* word) {
  const auto found = options.find(word);
  return found == options.end() ? "" : found->second;
}

int Number(const Options& options, const char* word) {
  return std::atoi(Get(options, word).c_str());
}

void DieByDefault(int signal) {
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void ChainHandlers() {
  for (int signal :
       {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}) {
    struct sigaction action = {};
    action.sa_handler = DieByDefault;
    action.sa_flags = SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

void BecomeUser(const std::string& text, const char* directory) {
  const auto id = static_cast<uid_t>(std::atoi(text.c_str()));
  if (chown(directory, id, id) != 0 || setgroups(0, nullptr) != 0 ||
      setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0) {
    _exit(94);
  }
  // Changing the user has made it undumpable, and its /proc root's.
  prctl(PR_SET_DUMPABLE, 1);
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("CapEff:", 0) == 0) {
      Tell("capeff", line.substr(8));
    }
  }
  Tell("uid", std::to_string(getuid()));
}

struct Spun {
  std::string name;
  sem_t ready;
};

void* busy_thread(void* given) {
  auto* spun = static_cast<Spun*>(given);
  prctl(PR_SET_NAME, spun->name.c_str());
  Tell("busy", std::to_string(syscall(SYS_gettid)) + " " + spun->name);
  sem_post(&spun->ready);
  for (;;) {
    asm volatile("");
  }
  return nullptr;
}

void StartBusyThread(int number) {
  auto* spun = new Spun;
  spun->name = "busy-" + std::to_string(number);
  sem_init(&spun->ready, 0, 0);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, busy_thread, spun) != 0) {
    _exit(97);
  }
  while (sem_wait(&spun->ready) != 0) {
  }
}

// By the raw call: glibc would leave its own two signals out of the mask.
void ParkBlocked(int number) {
  const uint64_t all = ~uint64_t{0};
  uint64_t former = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &former, 8);
  ParkThread("blocked-" + std::to_string(number));
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &former, nullptr, 8);
}

// Every thread of `target` gets a tracer that passes signals on.
[[noreturn]] void Trace(pid_t target, int told) {
  for (const auto& entry : std::filesystem::directory_iterator(
           "/proc/" + std::to_string(target) + "/task")) {
    ptrace(PTRACE_SEIZE,
           std::stoi(entry.path().filename().string()),
           nullptr,
           nullptr);
  }
  if (write(told, "x", 1) != 1) {
    _exit(1);
  }
  for (;;) {
    int status = 0;
    const pid_t stopped = waitpid(-1, &status, __WALL);
    if (stopped < 0) {
      _exit(0);
    }
    if (WIFSTOPPED(status)) {
      const long signal = status >> 16 != 0 ? 0 : WSTOPSIG(status);
      ptrace(PTRACE_CONT, stopped, nullptr, signal);
    }
  }
}

void StartTracer() {
  int told[2];
  if (pipe(told) != 0) {
    _exit(93);
  }
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t target = getpid();
  const pid_t tracer = fork();
  if (tracer == 0) {
    // Or the test would wait for the tracer's end of its pipes as well.
    close(1);
    close(2);
    Trace(target, told[1]);
  }
  close(told[1]);
  char byte;
  if (read(told[0], &byte, 1) != 1) {
    _exit(93);
  }
  close(told[0]);
  Tell("tracer", std::to_string(tracer));
}

void* vfork_thread(void* given) {
  prctl(PR_SET_NAME, "in-vfork");
  Tell("in_vfork", std::to_string(syscall(SYS_gettid)));
  sem_post(static_cast<sem_t*>(given));
  const pid_t child = vfork();
  if (child == 0) {
    // The parent's end is this child's too; without it, the alarm.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(20);
    syscall(SYS_close_range, 0, ~0u, 0);
    for (;;) {
      pause();
    }
  }
  return nullptr;
}

void StartVforkThread() {
  static sem_t ready;
  sem_init(&ready, 0, 0);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, vfork_thread, &ready) != 0) {
    _exit(97);
  }
  while (sem_wait(&ready) != 0) {
  }
  usleep(50000);  // until it is in the call
}

void LimitCore(const std::string& value) {
  const rlim_t bytes = value == "0" ? 0 : RLIM_INFINITY;
  const rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_CORE, &limit);
}

uint64_t AddressSpaceBytes() {
  std::ifstream pages("/proc/self/statm");
  uint64_t count = 0;
  pages >> count;
  return count * 4096;
}

void LimitResources(const Options& options) {
  if (Get(options, "nproc") == "0") {
    const rlimit limit = {0, 0};
    setrlimit(RLIMIT_NPROC, &limit);
  }
  if (Get(options, "fsize") == "0") {
    const rlimit limit = {0, 0};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (Get(options, "as") == "now") {
    const rlim_t bytes = AddressSpaceBytes() + (10 << 20);
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
}

void StartThreads(const Options& options) {
  const auto stack =
      static_cast<size_t>(std::atol(Get(options, "threads_stack").c_str()));
  for (int i = 0; i < Number(options, "threads"); ++i) {
    ParkThread("extra-" + std::to_string(i), stack);
  }
  for (int i = 0; i < Number(options, "blocked"); ++i) {
    ParkBlocked(i);
  }
  for (int i = 0; i < Number(options, "busy"); ++i) {
    StartBusyThread(i);
  }
  if (!Get(options, "vfork").empty()) {
    StartVforkThread();
  }
}

}  // namespace

Options ReadOptions(char** words, int count) {
  Options options;
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      _exit(92);
    }
    options[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return options;
}

void PrepareSurrounding(const Options& options, const char* directory) {
  if (const std::string core = Get(options, "core"); !core.empty()) {
    LimitCore(core);
  }
  if (Get(options, "handler") == "chained") {
    ChainHandlers();
  }
  if (Get(options, "descriptors") == "used") {
    const rlimit limit = {64, 64};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (const std::string user = Get(options, "user"); !user.empty()) {
    BecomeUser(user, directory);
  }
}

void MakeSurrounding(const Options& options, const char* directory) {
  StartThreads(options);
  if (!Get(options, "traced").empty()) {
    StartTracer();
  }
  if (Get(options, "root") == "empty" && chroot(directory) != 0) {
    _exit(91);
  }
  if (Get(options, "dumpable") == "0") {
    prctl(PR_SET_DUMPABLE, 0);
  }
  LimitResources(options);
  if (Get(options, "descriptors") == "used") {
    while (dup(0) >= 0) {
    }
  }
  FilterSystemCalls(Get(options, "deny"), Get(options, "kill"));
}

}  // namespace cairn::crash
