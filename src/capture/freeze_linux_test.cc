// SPDX-License-Identifier: Apache-2.0
//
// A forked child's threads are stopped and let go; what /proc and ptrace say of
// them is the measure.
#include "capture/freeze_linux.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "safe/syscall_linux.h"

namespace cairn::capture {
namespace {

constexpr uint64_t kLongNs = 20'000'000'000;  // never waited for in full
constexpr uint64_t kShortNs = 200'000'000;

// What child and test share.
struct Shared {
  std::atomic<int> ready;
  std::atomic<uint64_t> steps;
  std::atomic<int> signals;
  std::atomic<int32_t> spinner;
};

Shared* g_shared = nullptr;

void* Spin(void*) {
  g_shared->spinner = static_cast<int32_t>(gettid());
  ++g_shared->ready;
  for (;;) {
    ++g_shared->steps;
  }
}

void* Sleep(void*) {
  ++g_shared->ready;
  for (;;) {
    pause();
  }
}

void* Nothing(void*) {
  return nullptr;
}

// Makes threads as fast as it can.
void* Breed(void*) {
  ++g_shared->ready;
  for (;;) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, &Nothing, nullptr) == 0) {
      pthread_detach(thread);
    }
  }
}

void* WaitForVfork(void*) {
  ++g_shared->ready;
  if (vfork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      pause();
    }
  }
  return nullptr;
}

void Count(int) {
  ++g_shared->signals;
}

class FreezeTest : public testing::Test {
 protected:
  FreezeTest() {
    g_shared = new (mmap(nullptr,
                         sizeof(Shared),
                         PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS,
                         -1,
                         0)) Shared{};
    // The deadline interrupts a wait, as the writer process sets it up.
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
  }
  ~FreezeTest() override {
    kill(child_, SIGKILL);
    // Threads that are still traced are waited for one by one.
    while (waitpid(-1, nullptr, __WALL) > 0) {
    }
    munmap(g_shared, sizeof(Shared));
  }

  void Start(std::vector<void* (*)(void*)> bodies) {
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      struct sigaction action = {};
      action.sa_handler = &Count;
      sigaction(SIGRTMIN, &action, nullptr);
      for (void* (*body)(void*) : bodies) {
        pthread_t thread;
        pthread_create(&thread, nullptr, body, nullptr);
      }
      for (;;) {
        pause();
      }
    }
    while (g_shared->ready < static_cast<int>(bodies.size())) {
    }
  }
  Freeze Make() {
    return {child_, threads_.data(), ids_.data(), threads_.size()};
  }
  static uint64_t In(uint64_t ns) { return safe::MonotonicNs() + ns; }
  char StateOf(int32_t id) const {
    std::ifstream file("/proc/" + std::to_string(child_) + "/task/" +
                       std::to_string(id) + "/stat");
    std::string line((std::istreambuf_iterator<char>(file)), {});
    const size_t behind = line.rfind(')');
    return behind == std::string::npos ? '?' : line[behind + 2];
  }
  std::vector<int32_t> Tasks() const {
    std::vector<int32_t> ids;
    for (const auto& entry : std::filesystem::directory_iterator(
             "/proc/" + std::to_string(child_) + "/task")) {
      ids.push_back(std::stoi(entry.path().filename()));
    }
    return ids;
  }
  void Await(int32_t id, char state) {
    while (StateOf(id) != state) {
    }
  }

  std::vector<FrozenThread> threads_ = std::vector<FrozenThread>(4096);
  std::vector<int32_t> ids_ = std::vector<int32_t>(4096);
  pid_t child_ = -1;
};

TEST_F(FreezeTest, EveryThreadStandsAndGoesOn) {
  Start({&Spin, &Sleep, &Sleep});
  Freeze freeze = Make();
  freeze.StopAll(0, In(kLongNs), ThreadHints{});
  EXPECT_EQ(freeze.error(), 0);
  EXPECT_EQ(freeze.count(), 4u);
  for (const int32_t id : Tasks()) {
    EXPECT_EQ(StateOf(id), 't') << id;
  }
  const uint64_t steps = g_shared->steps;
  EXPECT_EQ(g_shared->steps, steps);
  freeze.Thaw();
  while (g_shared->steps == steps) {
  }
  for (const int32_t id : Tasks()) {
    EXPECT_NE(StateOf(id), 't') << id;
  }
  freeze.Thaw();  // does nothing
}

TEST_F(FreezeTest, ExceptedThreadRuns) {
  Start({&Spin, &Sleep});
  Freeze freeze = Make();
  freeze.StopAll(g_shared->spinner, In(kLongNs), ThreadHints{});
  const uint64_t steps = g_shared->steps;
  while (g_shared->steps == steps) {
  }
  for (size_t i = 0; i < freeze.count(); ++i) {
    EXPECT_EQ(freeze.at(i).stopped, freeze.at(i).id != g_shared->spinner);
  }
  freeze.Thaw();
}

TEST_F(FreezeTest, RegistersAreThosePtraceReads) {
  Start({&Spin, &Sleep});
  Freeze freeze = Make();
  freeze.StopAll(0, In(kLongNs), ThreadHints{});
  for (size_t i = 0; i < freeze.count(); ++i) {
    Registers registers = {};
    char state = 0;
    ASSERT_TRUE(freeze.ReadRegisters(i, &registers, &state));
    user_regs_struct expected = {};
    ASSERT_EQ(ptrace(PTRACE_GETREGS, freeze.at(i).id, nullptr, &expected), 0);
    EXPECT_EQ(ProgramCounter(registers), expected.rip);
    EXPECT_EQ(StackPointer(registers), expected.rsp);
    EXPECT_EQ(FramePointer(registers), expected.rbp);
    EXPECT_EQ(state, freeze.at(i).id == g_shared->spinner ? 'R' : 'S');
  }
  freeze.Thaw();
  Registers registers;
  char state;
  EXPECT_FALSE(freeze.ReadRegisters(0, &registers, &state));
}

// A2.21: threads made while others are being stopped.
TEST_F(FreezeTest, A2_21_ThreadsMadeMeanwhileStandToo) {
  Start({&Breed, &Breed, &Spin});
  for (int round = 0; round < 20; ++round) {
    Freeze freeze = Make();
    freeze.StopAll(0, In(kLongNs), ThreadHints{});
    for (const int32_t id : Tasks()) {
      const char state = StateOf(id);
      // One that is ending is no longer stopped.
      EXPECT_TRUE(state == 't' || state == 'X' || state == 'Z' || state == '?')
          << state;
    }
    freeze.Thaw();
  }
}

// A2.22: a signal that was on its way is neither lost nor doubled.
TEST_F(FreezeTest, A2_22_SignalsOnTheirWayArrive) {
  Start({&Spin, &Sleep});
  constexpr int kSignals = 300;
  for (int i = 0; i < kSignals; ++i) {
    // Real-time signals queue up: each one counts.
    syscall(SYS_tgkill, child_, g_shared->spinner.load(), SIGRTMIN);
    Freeze freeze = Make();
    freeze.StopAll(0, In(kLongNs), ThreadHints{});
    freeze.Thaw();
  }
  while (g_shared->signals < kSignals) {
  }
  EXPECT_EQ(g_shared->signals, kSignals);
}

TEST_F(FreezeTest, A2_22_ProcessStoppedBeforeStaysSo) {
  Start({&Sleep});
  kill(child_, SIGSTOP);
  Await(child_, 'T');
  Freeze freeze = Make();
  freeze.StopAll(0, In(kLongNs), ThreadHints{});
  Registers registers;
  char state = 0;
  for (size_t i = 0; i < freeze.count(); ++i) {
    ASSERT_TRUE(freeze.ReadRegisters(i, &registers, &state));
    EXPECT_EQ(state, 'T');
  }
  freeze.Thaw();
  Await(child_, 'T');
  kill(child_, SIGCONT);
  Await(child_, 'S');
}

TEST_F(FreezeTest, ThreadInAVforkWaitIsGivenUpAtTheDeadline) {
  Start({&WaitForVfork, &Sleep});
  int32_t waiting = 0;
  while (waiting == 0) {
    for (const int32_t id : Tasks()) {
      waiting = StateOf(id) == 'D' ? id : waiting;
    }
  }
  Freeze freeze = Make();
  freeze.StopAll(0, In(kShortNs), ThreadHints{});
  for (size_t i = 0; i < freeze.count(); ++i) {
    EXPECT_EQ(freeze.at(i).stopped, freeze.at(i).id != waiting);
  }
  freeze.Thaw();
}

TEST_F(FreezeTest, TracedByAnotherIsAnErrno) {
  Start({&Sleep});
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t other = fork();
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool traced = ptrace(PTRACE_SEIZE, child_, nullptr, nullptr) == 0;
    const char word = traced ? 'y' : 'n';
    if (write(told[1], &word, 1) != 1) {
      _exit(1);
    }
    for (;;) {
      pause();
    }
  }
  char word = 0;
  ASSERT_EQ(read(told[0], &word, 1), 1);
  ASSERT_EQ(word, 'y');
  Freeze freeze = Make();
  freeze.StopAll(0, In(kLongNs), ThreadHints{});
  EXPECT_EQ(freeze.error(), EPERM);
  freeze.Thaw();
  kill(other, SIGKILL);
  close(told[0]);
  close(told[1]);
}

TEST_F(FreezeTest, MoreThreadsThanRoomAreCounted) {
  Start({&Sleep, &Sleep, &Sleep});
  threads_.resize(2);
  Freeze freeze = Make();
  freeze.StopAll(0, In(kLongNs), ThreadHints{});
  EXPECT_EQ(freeze.count(), 2u);
  EXPECT_EQ(freeze.not_listed(), 2u);
  freeze.Thaw();
}

}  // namespace
}  // namespace cairn::capture
