// SPDX-License-Identifier: Apache-2.0
#include "upload/slots.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "upload/testing/report_directory.h"
#include "upload/uploader.h"

namespace cairn::upload {
namespace {

using format::FileHeader;
using format::ProcessIdentity;
using format::SlotState;
using Names = std::vector<std::string>;

// A child that waits until it is killed, and its identity in its own words.
struct Living {
  Living() {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    pid = StartChild([&] {
      const ProcessIdentity own = OwnIdentity();
      if (write(pipe_ends[1], &own, sizeof(own)) < 0) {
        return 1;
      }
      for (;;) {
        pause();
      }
    });
    EXPECT_EQ(read(pipe_ends[0], &identity, sizeof(identity)),
              static_cast<ssize_t>(sizeof(identity)));
    close(pipe_ends[0]);
    close(pipe_ends[1]);
  }
  ~Living() { Kill(); }
  void Kill() {
    if (pid > 0) {
      KillChild(pid);
    }
    pid = -1;
  }
  int pid = -1;
  ProcessIdentity identity{};
};

void Claim(FileHeader* header, const ProcessIdentity& owner, SlotState state) {
  header->installer = owner;
  header->owner = owner;
  header->claim = owner.pid | owner.start_ticks << 32;
  header->state = static_cast<uint32_t>(state);
}

void Arm(FileHeader* header, const ProcessIdentity& installer) {
  header->installer = installer;
  header->owner = {};
  header->claim = 0;
  header->state = static_cast<uint32_t>(SlotState::kArmed);
}

TEST(ProcessState, OwnIdentityIsAliveAndOfThisBoot) {
  const ProcessIdentity own = OwnIdentity();
  EXPECT_EQ(own.pid, static_cast<uint32_t>(getpid()));
  EXPECT_NE(own.start_ticks, 0u);
  EXPECT_EQ(StateOf(own), ProcessState::kAlive);
}

TEST(ProcessState, SameIdWithAnotherStartIsDead) {
  ProcessIdentity other = OwnIdentity();
  other.start_ticks ^= 1;
  EXPECT_EQ(StateOf(other), ProcessState::kDead);
}

TEST(ProcessState, OtherBootIsDeadOtherNamespaceUnknown) {
  ProcessIdentity other = OwnIdentity();
  other.pid_namespace ^= 1;
  EXPECT_EQ(StateOf(other), ProcessState::kUnknown);
  other.boot_id[3] ^= 1;
  EXPECT_EQ(StateOf(other), ProcessState::kDead);
  EXPECT_EQ(StateOf(ProcessIdentity{}), ProcessState::kUnknown);
}

TEST(ProcessState, ZombieIsDead) {
  Living child;
  EXPECT_EQ(StateOf(child.identity), ProcessState::kAlive);
  kill(child.pid, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(StateOf(child.identity), ProcessState::kDead);
}

TEST(Slots, ALivingOwnersSlotIsNeverTaken) {
  const ReportDirectory directory;
  Living owner;
  const auto report = directory.AddSlot("a", 1, [&](FileHeader* header) {
    Claim(header, owner.identity, SlotState::kSealed);
  });
  EXPECT_EQ(FinishedReports(directory.path()), Names{});
  EXPECT_EQ(directory.Names(), Names{"a.slot"});
  owner.Kill();
  EXPECT_EQ(FinishedReports(directory.path()),
            Names{directory.path() + "/a.cairn"});
  EXPECT_EQ(directory.Names(), Names{"a.cairn"});
  EXPECT_EQ(directory.Read("a.cairn"), report) << "cut to the report";
}

TEST(Slots, ClaimedByADeadProcessIsAReport) {
  const ReportDirectory directory;
  Living owner;
  owner.Kill();
  directory.AddSlot("a", 1, [&](FileHeader* header) {
    Claim(header, owner.identity, SlotState::kClaimed);
    header->owner = {};  // died between the claim and its identity
  });
  EXPECT_EQ(FinishedReports(directory.path()).size(), 1u);
}

TEST(Slots, UnusedSlotOfADeadProcessIsRemoved) {
  const ReportDirectory directory;
  Living installer;
  directory.AddSlot(
      "a", 1, [&](FileHeader* header) { Arm(header, installer.identity); });
  FinishedReports(directory.path());
  EXPECT_TRUE(directory.Has("a.slot"));
  installer.Kill();
  EXPECT_EQ(FinishedReports(directory.path()), Names{});
  EXPECT_EQ(directory.Names(), Names{});
}

// A child of the dead installer still holds the lock: it may yet crash into it.
TEST(Slots, UnusedSlotWithALockIsKept) {
  const ReportDirectory directory;
  Living installer;
  installer.Kill();
  directory.AddSlot(
      "a", 1, [&](FileHeader* header) { Arm(header, installer.identity); });
  const int fd = open((directory.path() + "/a.slot").c_str(), O_RDWR);
  struct flock lock{};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0);
  FinishedReports(directory.path());
  EXPECT_TRUE(directory.Has("a.slot"));
  close(fd);
  FinishedReports(directory.path());
  EXPECT_FALSE(directory.Has("a.slot"));
}

// Another container's process ids say nothing here; its lock does.
TEST(Slots, OtherNamespaceIsDecidedByTheLock) {
  const ReportDirectory directory;
  ProcessIdentity elsewhere = OwnIdentity();
  elsewhere.pid_namespace ^= 1;
  directory.AddSlot("a", 1, [&](FileHeader* header) {
    Claim(header, elsewhere, SlotState::kSealed);
  });
  const int fd = open((directory.path() + "/a.slot").c_str(), O_RDWR);
  struct flock lock{};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0);
  EXPECT_EQ(FinishedReports(directory.path()), Names{});
  close(fd);
  EXPECT_EQ(FinishedReports(directory.path()).size(), 1u);
}

TEST(Slots, OtherBootIsFinished) {
  const ReportDirectory directory;
  ProcessIdentity before = OwnIdentity();
  before.boot_id[0] ^= 1;
  directory.AddSlot("a", 1, [&](FileHeader* header) {
    Claim(header, before, SlotState::kSealed);
  });
  EXPECT_EQ(FinishedReports(directory.path()).size(), 1u);
}

TEST(Slots, LinksAndForeignFilesAreLeftAlone) {
  const ReportDirectory directory, elsewhere;
  ProcessIdentity before = OwnIdentity();
  before.boot_id[0] ^= 1;
  elsewhere.AddSlot("real", 1, [&](FileHeader* header) {
    Claim(header, before, SlotState::kSealed);
  });
  const auto real = elsewhere.Read("real.slot");
  ASSERT_EQ(symlink((elsewhere.path() + "/real.slot").c_str(),
                    (directory.path() + "/link.slot").c_str()),
            0);
  directory.Write("text.slot", {'h', 'e', 'l', 'l', 'o'});
  EXPECT_EQ(FinishedReports(directory.path()), Names{});
  EXPECT_EQ(elsewhere.Read("real.slot"), real);
  EXPECT_TRUE(directory.Has("text.slot"));
}

TEST(Slots, AReportOfTheSameNameIsNotOverwritten) {
  const ReportDirectory directory;
  ProcessIdentity before = OwnIdentity();
  before.boot_id[0] ^= 1;
  directory.Write("a.cairn", ReportBytes(9));
  directory.AddSlot("a", 1, [&](FileHeader* header) {
    Claim(header, before, SlotState::kSealed);
  });
  EXPECT_EQ(FinishedReports(directory.path()).size(), 2u);
  EXPECT_EQ(directory.Read("a.cairn"), ReportBytes(9));
}

TEST(FinishedReports, NewestFirstAndNothingForNoDirectory) {
  const ReportDirectory directory;
  directory.AddReport(1, 50);
  directory.AddReport(2, 10);
  directory.AddReport(3, 99);
  const std::string root = directory.path() + "/";
  EXPECT_EQ(FinishedReports(directory.path()),
            (Names{root + "2.cairn", root + "1.cairn", root + "3.cairn"}));
  EXPECT_EQ(FinishedReports(root + "none"), Names{});
}

}  // namespace
}  // namespace cairn::upload
