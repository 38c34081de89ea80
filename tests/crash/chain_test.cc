// SPDX-License-Identifier: Apache-2.0
//
// Handlers beside ours: earlier and later ones, signals that are not ours,
// installs that come and go. Each in a process of its own that really crashes.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "cairn/cairn.h"

namespace cairn::crash {
namespace {

using Install = decltype(&cairn_install);

cairn_status InstallIn(const std::string& directory,
                       bool chain_first = false,
                       Install install = &cairn_install) {
  cairn_config config;
  cairn_config_init(&config);
  config.directory = directory.c_str();
  config.no_next_launch = 1;
  config.chain_first = chain_first ? 1 : 0;
  return install(&config);
}

void Handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(signal, &action, nullptr);
}

// The exit code of `body` in a child; −signal when the child was killed.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// mov to address 0x10: seven bytes.
void Fault() {
  asm volatile("movl $1, 0x10");
}

// Counts how often handlers below have run; they may not allocate.
volatile int g_runs;

void StepOverFault(int, siginfo_t*, void* context) {
  g_runs = g_runs + 1;
  auto* ucontext = static_cast<ucontext_t*>(context);
  const auto* code =
      reinterpret_cast<const uint8_t*>(ucontext->uc_mcontext.gregs[REG_RIP]);
  // movl $imm32, disp32 is c7 04 25, then twice four bytes.
  if (code[0] == 0xc7 && code[1] == 0x04 && code[2] == 0x25) {
    ucontext->uc_mcontext.gregs[REG_RIP] += 11;
  }
}

// What a runtime does with a fault that is not its own.
void DieAgain(int number, siginfo_t*, void*) {
  g_runs = g_runs + 1;
  signal(number, SIG_DFL);
  raise(number);
}

void Count(int, siginfo_t*, void*) {
  g_runs = g_runs + 1;
}

// From the kernel, not from a C library that may show something else.
struct Action {
  uint64_t handler, flags, restorer, mask;
};
Action ActionOf(int number) {
  Action action = {};
  syscall(SYS_rt_sigaction, number, nullptr, &action, 8);
  return action;
}

// A mask of signals as /proc/self/status has it.
uint64_t Signals(const char* word) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(word, 0) == 0) {
      return std::stoull(line.substr(line.find(':') + 1), nullptr, 16);
    }
  }
  return 0;
}

uint64_t Bits(std::initializer_list<int> signals) {
  uint64_t bits = 0;
  for (const int number : signals) {
    bits |= uint64_t{1} << (number - 1);
  }
  return bits;
}

class Chain : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cairn-chain-XXXXXX";
    root_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  size_t Reports() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root_)) {
      count += entry.path().extension() == ".cairn" ? 1 : 0;
    }
    return count;
  }
  std::string root_;
};

TEST_F(Chain, A1_11_FaultThatARuntimeTurnsIntoAnExceptionLeavesNoReport) {
  EXPECT_EQ(InChild([&] {
              Handle(SIGSEGV, &StepOverFault, SA_ONSTACK);
              if (InstallIn(root_, true) != CAIRN_OK) {
                return 1;
              }
              for (int i = 0; i < 100; ++i) {
                Fault();
              }
              return g_runs == 100 ? 0 : 2;
            }),
            0);
  EXPECT_EQ(Reports(), 0u);
}

// The runtime looks at it first and leaves it as it is.
TEST_F(Chain, A1_19_FaultThatARuntimeDoesNotKnowHasAReport) {
  EXPECT_EQ(InChild([&] {
              Handle(SIGSEGV, &Count, SA_ONSTACK);
              InstallIn(root_, true);
              Fault();
              return 0;
            }),
            -SIGSEGV);
  EXPECT_EQ(Reports(), 1u);
}

TEST_F(Chain, A1_12_HandlerThatRaisesItUnderTheDefaultActionHasAReport) {
  for (const int number : {SIGSEGV, SIGBUS, SIGILL}) {
    EXPECT_EQ(InChild([&] {
                Handle(number, &DieAgain, SA_ONSTACK);
                InstallIn(root_, true);
                if (number == SIGSEGV) {
                  Fault();
                }
                raise(number);
                return 0;
              }),
              -number);
  }
  EXPECT_EQ(Reports(), 3u);
}

TEST_F(Chain, A1_13_AbortUnderAHandlerThatResetsItHasAReport) {
  for (const bool chain_first : {true, false}) {
    EXPECT_EQ(InChild([&] {
                Handle(SIGABRT, &DieAgain, SA_ONSTACK);
                InstallIn(root_, chain_first);
                abort();
                return 0;
              }),
              -SIGABRT);
  }
  EXPECT_EQ(Reports(), 2u);
}

// SIGPIPE, SIGTERM and all others are left alone, ignored ones too.
TEST_F(Chain, A1_27_A1_28_A1_29_A1_31_A1_52_OnlySevenSignalsAreTouched) {
  EXPECT_EQ(
      InChild([&] {
        signal(SIGPIPE, SIG_IGN);
        const uint64_t caught = Signals("SigCgt");
        const uint64_t ignored = Signals("SigIgn");
        if (InstallIn(root_) != CAIRN_OK) {
          return 1;
        }
        if ((Signals("SigCgt") ^ caught) !=
            Bits({SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS})) {
          return 2;
        }
        if (Signals("SigIgn") != ignored) {
          return 3;
        }
        int ends[2];
        if (pipe(ends) != 0 || close(ends[0]) != 0 ||
            write(ends[1], "x", 1) != -1) {
          return 4;
        }
        cairn_uninstall();
        return Signals("SigCgt") == caught ? 0 : 5;
      }),
      0);
  EXPECT_EQ(InChild([&] {
              InstallIn(root_);
              raise(SIGTERM);
              return 0;
            }),
            -SIGTERM);
  EXPECT_EQ(Reports(), 0u);
}

TEST_F(Chain, A1_15_A1_36_HandlersRunOnTheAlternateStackAndSeeTagBits) {
  EXPECT_EQ(InChild([&] {
              InstallIn(root_);
              constexpr uint64_t kExposeTagBits = 0x800;
              constexpr uint64_t kWanted =
                  SA_SIGINFO | SA_ONSTACK | kExposeTagBits;
              for (const int number : {SIGSEGV, SIGBUS, SIGTRAP, SIGABRT}) {
                if ((ActionOf(number).flags & kWanted) != kWanted) {
                  return number;
                }
              }
              return 0;
            }),
            0);
}

TEST_F(Chain, A1_20_AppsOwnAlternateStackIsKept) {
  EXPECT_EQ(InChild([&] {
              stack_t own = {};
              own.ss_size = 1 << 20;
              own.ss_sp = mmap(nullptr,
                               own.ss_size,
                               PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS,
                               -1,
                               0);
              sigaltstack(&own, nullptr);
              InstallIn(root_);
              stack_t now = {};
              sigaltstack(nullptr, &now);
              return now.ss_sp == own.ss_sp && now.ss_size == own.ss_size ? 0
                                                                          : 1;
            }),
            0);
}

TEST_F(Chain, A1_30_UninstallLeavesALaterHandlerAndPutsBackTheRest) {
  EXPECT_EQ(InChild([&] {
              Handle(SIGBUS, &Count, 0);
              const Action before = ActionOf(SIGBUS);
              InstallIn(root_);
              Handle(SIGSEGV, &StepOverFault, 0);
              const Action later = ActionOf(SIGSEGV);
              cairn_uninstall();
              if (ActionOf(SIGSEGV).handler != later.handler) {
                return 1;
              }
              const Action after = ActionOf(SIGBUS);
              return after.handler == before.handler &&
                             after.flags == before.flags &&
                             after.mask == before.mask
                         ? 0
                         : 2;
            }),
            0);
}

// A second install must not take its own handler for the earlier one.
TEST_F(Chain, A1_45_CrashBehindASecondInstallRunsTheEarlierHandlerOnce) {
  EXPECT_EQ(InChild([&] {
              Handle(SIGSEGV, &StepOverFault, SA_ONSTACK);
              InstallIn(root_);
              cairn_uninstall();
              InstallIn(root_);
              InstallIn(root_);
              Fault();
              return g_runs == 1 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(Reports(), 1u);
}

// A filter that says yes and does nothing.
TEST_F(Chain, A1_37_HandlerThatDoesNotStandIsRefused) {
  EXPECT_EQ(
      InChild([&] {
        sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        const sock_fprog program = {4, filter};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
          return 99;
        }
        return static_cast<int>(InstallIn(root_));
      }),
      CAIRN_SIGNALS_REFUSED);
}

// Somebody clears the directory, as systems do with caches: nothing is left to
// rename, and the process dies of its own signal all the same.
TEST_F(Chain, A5_26_DirectoryPurgedBehindTheInstallEndsNothing) {
  const std::string directory = root_ + "/purged";
  EXPECT_EQ(InChild([&] {
              if (InstallIn(directory) != CAIRN_OK) {
                return 1;
              }
              std::filesystem::remove_all(directory);
              Fault();
              return 0;
            }),
            -SIGSEGV);
}

// Bytes of the stack and of what registers point at may be a person's own.
TEST_F(Chain, A8_22_WithoutStackBytesNoneOfTheAppsMemoryIsKept) {
  for (const bool keep : {true, false}) {
    const std::string directory = root_ + (keep ? "/kept" : "/private");
    EXPECT_EQ(InChild([&] {
                cairn_config config;
                cairn_config_init(&config);
                config.directory = directory.c_str();
                config.no_next_launch = 1;
                config.no_stack_bytes = keep ? 0 : 1;
                if (cairn_install(&config) != CAIRN_OK) {
                  return 1;
                }
                char on_stack[32] = "name of a person, on the stack";
                char* on_heap = strdup("name of a person, on the heap");
                asm volatile("mov %0, %%r12\n\tmovl $1, 0x10"
                             :
                             : "r"(on_heap), "r"(on_stack)
                             : "r12", "memory");
                return 0;
              }),
              -SIGSEGV);
    std::string bytes;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      std::ifstream file(entry.path(), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(file), {});
    }
    for (const char* place : {"stack", "heap"}) {
      EXPECT_EQ(bytes.find(std::string("name of a person, on the ") + place) !=
                    std::string::npos,
                keep)
          << place;
    }
  }
}

// A library that is gone cannot handle a crash, so it stays.
TEST_F(Chain, A1_50_SharedLibraryOutlivesItsDlclose) {
  EXPECT_EQ(InChild([&] {
              void* library = dlopen(CAIRN_SHARED_LIBRARY, RTLD_NOW);
              const auto install = library == nullptr
                                       ? nullptr
                                       : reinterpret_cast<Install>(
                                             dlsym(library, "cairn_install"));
              if (install == nullptr ||
                  InstallIn(root_, false, install) != CAIRN_OK) {
                return 1;
              }
              dlclose(library);
              Fault();
              return 0;
            }),
            -SIGSEGV);
  EXPECT_EQ(Reports(), 1u);
}

}  // namespace
}  // namespace cairn::crash
