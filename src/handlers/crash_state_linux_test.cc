// SPDX-License-Identifier: Apache-2.0
#include "handlers/crash_state.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <vector>

#include "handlers/zeroed_state.h"

namespace cairn::handlers {
namespace {

class CrashStateTest : public testing::Test {
 protected:
  ~CrashStateTest() override { SetBase(nullptr); }
  // Bytes of it that are in memory.
  size_t Resident() const {
    std::vector<unsigned char> pages((sizeof(CrashState) + 4095) / 4096);
    mincore(state_.get(), sizeof(CrashState), pages.data());
    size_t count = 0;
    for (const unsigned char page : pages) {
      count += page & 1u;
    }
    return count * 4096;
  }

  const Zeroed<CrashState> state_;
};

TEST_F(CrashStateTest, IsThereFromInstallToUninstall) {
  EXPECT_EQ(State(), nullptr);
  SetBase(state_.get());
  EXPECT_EQ(State(), state_.get());
  SetBase(nullptr);
  EXPECT_EQ(State(), nullptr);
}

TEST_F(CrashStateTest, ForkedChildHasItsOwn) {
  SetBase(state_.get());
  const pid_t child = fork();
  if (child == 0) {
    State()->winner = 1;
    _exit(State() == state_.get() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(state_->winner, 0u);
}

TEST_F(CrashStateTest, ZeroIsTheStateBeforeACrash) {
  EXPECT_EQ(state_->winner, 0u);
  EXPECT_EQ(state_->exception.thread_id, 0u);
  EXPECT_EQ(state_->stop_point, StopPoint::kNone);
  EXPECT_EQ(state_->slot, nullptr);
}

// What costs memory in every program is what has been touched.
TEST_F(CrashStateTest, PreparingTheTrieTouchesAlmostNothing) {
  const size_t before = Resident();
  state_->trie.Init(state_->nodes, kTrieNodes, state_->buckets, kTrieBuckets);
  state_->winner = 1;
  EXPECT_LE(Resident() - before, size_t{64} << 10);
  EXPECT_GT(sizeof(CrashState), size_t{1} << 20);
}

// The seven of the documentation, by the system's own numbers.
TEST_F(CrashStateTest, SignalsAreThoseOfTheSystem) {
  EXPECT_EQ(std::set<int>(std::begin(kSignals), std::end(kSignals)),
            (std::set<int>{
                SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}));
}

}  // namespace
}  // namespace cairn::handlers
