// SPDX-License-Identifier: Apache-2.0
//
// Against /proc read in other ways, and against ptrace.
#include "capture/thread_list_linux.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace cairn::capture {
namespace {

const int32_t kSelf = static_cast<int32_t>(getpid());

std::set<int32_t> Tasks() {
  std::set<int32_t> ids;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ids.insert(std::stoi(entry.path().filename()));
  }
  return ids;
}

// Field `number` of a stat line, counted as proc(5) does, behind the name.
std::string StatField(const std::string& path, int number) {
  std::ifstream file(path);
  std::string line((std::istreambuf_iterator<char>(file)), {});
  std::istringstream words(line.substr(line.rfind(')') + 2));
  std::string word;
  for (int i = 3; i <= number; ++i) {
    words >> word;
  }
  return word;
}

// A named thread that waits until it is let go.
class Waiting {
 public:
  explicit Waiting(const std::string& name)
      : thread_([this, name] {
          prctl(PR_SET_NAME, name.c_str());
          id_ = static_cast<int32_t>(gettid());
          while (!go_) {
            go_.wait(false);
          }
        }) {
    while (id_ == 0) {
      std::this_thread::yield();
    }
    // Asleep once the kernel says so.
    const std::string stat = "/proc/self/task/" + std::to_string(id_) + "/stat";
    while (StatField(stat, 3) != "S") {
      std::this_thread::yield();
    }
  }
  ~Waiting() {
    go_ = true;
    go_.notify_all();
    thread_.join();
  }
  int32_t id() const { return id_; }

 private:
  std::atomic<int32_t> id_ = 0;
  std::atomic<bool> go_ = false;
  std::thread thread_;
};

TEST(ListThreads, HasThoseThatTheKernelLists) {
  Waiting one("one"), two("two"), three("three");
  std::vector<int32_t> ids(100);
  int failed = -1;
  size_t more = 99;
  const size_t count =
      ListThreads(kSelf, ids.data(), 0, ids.size(), &failed, &more);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(more, 0u);
  EXPECT_EQ(std::set<int32_t>(ids.begin(), ids.begin() + count), Tasks());
  EXPECT_EQ(count, Tasks().size()) << "one was listed twice";
}

TEST(ListThreads, AddsOnlyWhatIsNew) {
  std::vector<int32_t> ids(100);
  int failed = 0;
  size_t more = 0;
  const size_t before =
      ListThreads(kSelf, ids.data(), 0, ids.size(), &failed, &more);
  std::reverse(ids.begin(), ids.begin() + before);  // in any order
  const std::vector<int32_t> known(ids.begin(), ids.begin() + before);
  Waiting one("one"), two("two");
  const size_t after =
      ListThreads(kSelf, ids.data(), before, ids.size(), &failed, &more);
  EXPECT_EQ(std::vector<int32_t>(ids.begin(), ids.begin() + before), known);
  EXPECT_EQ(std::set<int32_t>(ids.begin() + before, ids.begin() + after),
            (std::set<int32_t>{one.id(), two.id()}));
}

TEST(ListThreads, CountsWhatDoesNotFit) {
  Waiting one("one"), two("two"), three("three");
  std::vector<int32_t> ids(2);
  int failed = 0;
  size_t more = 0;
  EXPECT_EQ(ListThreads(kSelf, ids.data(), 0, 2, &failed, &more), 2u);
  EXPECT_EQ(more, Tasks().size() - 2);
}

TEST(ListThreads, ProcessThatIsGoneIsAnErrno) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  int32_t id = 77;
  int failed = 0;
  size_t more = 0;
  EXPECT_EQ(ListThreads(child, &id, 1, 1, &failed, &more), 1u);
  EXPECT_EQ(failed, ENOENT);
  EXPECT_EQ(id, 77);
}

// A name may hold everything that the line's own shape is made of.
TEST(ReadThreadFacts, NameAndStateOfAHostileName) {
  for (const std::string name :
       {"plain", ") R 1 2 (", "a b", "((", "123456789012345"}) {
    Waiting thread(name);
    ThreadFacts facts;
    ASSERT_TRUE(ReadThreadFacts(kSelf, thread.id(), &facts));
    EXPECT_EQ(std::string(facts.name, facts.name_bytes), name);
    EXPECT_EQ(facts.state, 'S');
  }
}

TEST(ReadThreadFacts, CpuTimeIsTheKernels) {
  const std::string stat =
      "/proc/self/task/" + std::to_string(gettid()) + "/stat";
  const auto ticks = [&stat] {
    return std::stoull(StatField(stat, 14)) + std::stoull(StatField(stat, 15));
  };
  while (ticks() < 3) {  // has worked for 30 ms
  }
  ThreadFacts facts;
  const uint64_t before = ticks();
  ASSERT_TRUE(ReadThreadFacts(kSelf, static_cast<int32_t>(gettid()), &facts));
  EXPECT_GE(facts.cpu_time_ms, before * 1000 / sysconf(_SC_CLK_TCK));
  EXPECT_LE(facts.cpu_time_ms, ticks() * 1000 / sysconf(_SC_CLK_TCK));
}

TEST(ReadThreadFacts, ThreadThatIsGoneHasNone) {
  int32_t id = 0;
  {
    Waiting thread("short");
    id = thread.id();
  }
  // Joined, yet the kernel may still be at its end.
  while (Tasks().count(id) != 0) {
  }
  ThreadFacts facts;
  EXPECT_FALSE(ReadThreadFacts(kSelf, id, &facts));
  EXPECT_FALSE(ReadThreadFacts(-1, id, &facts));
}

TEST(ReadStartTicks, IsTheKernels) {
  EXPECT_EQ(ReadStartTicks(kSelf),
            std::stoull(StatField("/proc/self/stat", 22)));
  EXPECT_EQ(ReadStartTicks(1), std::stoull(StatField("/proc/1/stat", 22)));
  EXPECT_EQ(ReadStartTicks(-1), 0u);
}

// A child asleep in pause(2): the same two registers as ptrace reads.
TEST(ReadSleepingThread, IsWhatPtraceReads) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      pause();
    }
  }
  const std::string stat = "/proc/" + std::to_string(child) + "/stat";
  while (StatField(stat, 3) != "S") {
    std::this_thread::yield();
  }
  uint64_t stack_pointer = 0, pc = 0;
  ASSERT_TRUE(ReadSleepingThread(child, child, &stack_pointer, &pc));
  ASSERT_EQ(ptrace(PTRACE_SEIZE, child, nullptr, nullptr), 0);
  ASSERT_EQ(ptrace(PTRACE_INTERRUPT, child, nullptr, nullptr), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  user_regs_struct registers = {};
  ASSERT_EQ(ptrace(PTRACE_GETREGS, child, nullptr, &registers), 0);
  EXPECT_EQ(stack_pointer, registers.rsp);
  EXPECT_EQ(pc, registers.rip);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  EXPECT_FALSE(ReadSleepingThread(child, child, &stack_pointer, &pc));
}

TEST(ReadSleepingThread, RunningThreadHasNone) {
  std::atomic<int32_t> id = 0;
  std::atomic<bool> end = false;
  std::thread spinning([&] {
    id = static_cast<int32_t>(gettid());
    while (!end) {
    }
  });
  while (id == 0) {
  }
  uint64_t stack_pointer = 0, pc = 0;
  EXPECT_FALSE(ReadSleepingThread(kSelf, id, &stack_pointer, &pc));
  end = true;
  spinning.join();
}

}  // namespace
}  // namespace cairn::capture
