// SPDX-License-Identifier: Apache-2.0
//
// Installs that cannot work: a status that says what to do, never a signal,
// nothing left behind. Each in a process of its own, since an install lasts.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "cairn/cairn.h"

namespace cairn::crash {
namespace {

cairn_status Install(const std::string& directory) {
  cairn_config config;
  cairn_config_init(&config);
  config.directory = directory.c_str();
  config.no_next_launch = 1;
  return cairn_install(&config);
}

// The status that `body` returned in a child; −signal when the child was
// killed.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class InstallConditions : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cairn-install-XXXXXX";
    root_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  size_t Slots(const std::string& directory) {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      count += entry.path().extension() == ".slot" ? 1 : 0;
    }
    return count;
  }
  std::string root_;
};

TEST_F(InstallConditions, NoConfigOrNoDirectory) {
  EXPECT_EQ(InChild([] { return cairn_install(nullptr); }), CAIRN_BAD_CONFIG);
  EXPECT_EQ(InChild([] { return Install(""); }), CAIRN_BAD_CONFIG);
  EXPECT_EQ(InChild([] {
              cairn_config config = {};
              return cairn_install(&config);
            }),
            CAIRN_BAD_CONFIG);
}

TEST_F(InstallConditions, DirectoryIsMadeForItsOwnerAlone) {
  const std::string directory = root_ + "/new";
  EXPECT_EQ(InChild([&] { return Install(directory); }), CAIRN_OK);
  struct stat facts = {};
  ASSERT_EQ(stat(directory.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0700u);
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    ASSERT_EQ(stat(entry.path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777u, 0600u) << entry.path();
  }
}

TEST_F(InstallConditions, ParentMissingOrAFile) {
  EXPECT_EQ(InChild([&] { return Install(root_ + "/a/b"); }),
            CAIRN_DIRECTORY_MISSING);
  EXPECT_EQ(InChild([] { return Install("/etc/passwd"); }),
            CAIRN_DIRECTORY_MISSING);
}

TEST_F(InstallConditions, DirectoryThatOthersMayWrite) {
  chmod(root_.c_str(), 0777);
  EXPECT_EQ(InChild([&] { return Install(root_); }), CAIRN_DIRECTORY_UNSAFE);
}

TEST_F(InstallConditions, DirectoryNotWritable) {
  chmod(root_.c_str(), 0755);
  EXPECT_EQ(InChild([&] {
              return setuid(65534) == 0 ? Install(root_ + "/mine") : CAIRN_OK;
            }),
            CAIRN_DIRECTORY_NOT_WRITABLE);
}

TEST_F(InstallConditions, FileSizeLimitBelowTheSlotRaisesNoSignal) {
  EXPECT_EQ(InChild([&] {
              const rlimit limit = {65536, 65536};
              setrlimit(RLIMIT_FSIZE, &limit);
              return Install(root_);
            }),
            CAIRN_FILE_SIZE_LIMIT);
  EXPECT_EQ(Slots(root_), 0u);
}

TEST_F(InstallConditions, DiskFull) {
  const std::string disk = root_ + "/disk";
  ASSERT_EQ(mkdir(disk.c_str(), 0700), 0);
  ASSERT_EQ(mount("none", disk.c_str(), "tmpfs", 0, "size=64k,mode=0700"), 0);
  EXPECT_EQ(InChild([&] { return Install(disk); }), CAIRN_DISK_FULL);
  EXPECT_EQ(Slots(disk), 0u);
  umount(disk.c_str());
}

TEST_F(InstallConditions, NoDescriptorLeft) {
  EXPECT_EQ(InChild([&] {
              const rlimit limit = {3, 3};
              setrlimit(RLIMIT_NOFILE, &limit);
              return Install(root_);
            }),
            CAIRN_NO_DESCRIPTORS);
}

TEST_F(InstallConditions, SecondInstallAndInstallAfterFork) {
  EXPECT_EQ(InChild([&] {
              if (Install(root_) != CAIRN_OK ||
                  Install(root_) != CAIRN_ALREADY_INSTALLED) {
                return 101;
              }
              return InChild([&] { return Install(root_); }) ==
                             CAIRN_ALREADY_INSTALLED
                         ? 0
                         : 102;
            }),
            0);
}

TEST_F(InstallConditions, UninstallLeavesNothingAndAllowsAnother) {
  EXPECT_EQ(
      InChild([&] {
        if (Install(root_) != CAIRN_OK || cairn_uninstall() != CAIRN_OK) {
          return 101;
        }
        if (Slots(root_) != 0 || cairn_uninstall() != CAIRN_NOT_INSTALLED) {
          return 102;
        }
        return static_cast<int>(Install(root_));
      }),
      CAIRN_OK);
}

TEST_F(InstallConditions, DisabledByTheEnvironment) {
  EXPECT_EQ(InChild([&] {
              setenv("CAIRN_DISABLE", "1", 1);
              return Install(root_);
            }),
            CAIRN_DISABLED);
}

TEST_F(InstallConditions, CaptureGoesOnAndIsLimited) {
  EXPECT_EQ(InChild([&] {
              if (cairn_capture("capture", "early") != CAIRN_NOT_INSTALLED) {
                return 101;
              }
              if (Install(root_) != CAIRN_OK ||
                  cairn_capture("capture", "one") != CAIRN_OK) {
                return 102;
              }
              return static_cast<int>(cairn_capture("capture", "two"));
            }),
            CAIRN_LIMIT);
  size_t reports = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root_)) {
    reports += entry.path().extension() == ".cairn" ? 1 : 0;
  }
  EXPECT_EQ(reports, 1u);
}

TEST(StatusText, EveryStatusHasARemedy) {
  for (int status = CAIRN_OK; status <= CAIRN_IO_ERROR; ++status) {
    EXPECT_STRNE(cairn_status_text(static_cast<cairn_status>(status)), "")
        << status;
  }
}

}  // namespace
}  // namespace cairn::crash
