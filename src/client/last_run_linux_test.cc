// SPDX-License-Identifier: Apache-2.0
#include "client/last_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace cairn::client {
namespace {

class LastRun : public testing::Test {
 protected:
  LastRun() {
    std::string text = testing::TempDir() + "cairn-last-run-XXXXXX";
    path_ = mkdtemp(text.data());
  }
  ~LastRun() override { std::filesystem::remove_all(path_); }

  // Writes a file whose time is `seconds` behind the marker's; before it where
  // that is negative.
  void Add(const std::string& name, int seconds) {
    const std::string file = path_ + "/" + name;
    std::ofstream(file) << "x";
    struct stat marker = {};
    ASSERT_EQ(stat((path_ + "/last-install").c_str(), &marker), 0);
    timespec time = marker.st_mtim;
    time.tv_sec += seconds;
    const timespec times[2] = {time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  cairn_last_run_kind Next() {
    work_ = NoteRun(path_);
    return cairn_last_run();
  }

  std::string path_;
  bool work_ = false;
};

TEST_F(LastRun, FirstRunOfAllIsUnknown) {
  EXPECT_EQ(Next(), CAIRN_LAST_RUN_UNKNOWN);
  EXPECT_FALSE(work_);
  struct stat marker = {};
  ASSERT_EQ(stat((path_ + "/last-install").c_str(), &marker), 0);
  EXPECT_EQ(marker.st_mode, static_cast<mode_t>(S_IFREG | 0600));
}

TEST_F(LastRun, RunWithoutAReportIsNoCrash) {
  Next();
  EXPECT_EQ(Next(), CAIRN_LAST_RUN_NO_CRASH);
  EXPECT_FALSE(work_);
}

TEST_F(LastRun, ReportOfTheLastRunIsACrashOnce) {
  Next();
  Add("a.cairn", 1);
  EXPECT_EQ(Next(), CAIRN_LAST_RUN_CRASHED);
  EXPECT_TRUE(work_);
  // It waits for its upload; the run after it did not crash.
  Add("a.cairn", -1);
  EXPECT_EQ(Next(), CAIRN_LAST_RUN_NO_CRASH);
  EXPECT_TRUE(work_);
}

TEST_F(LastRun, OlderReportIsNotTheLastRuns) {
  Next();
  Add("old.cairn", -3600);
  EXPECT_EQ(Next(), CAIRN_LAST_RUN_NO_CRASH);
}

// Reports without a marker: the directory was used before, or copied.
TEST_F(LastRun, ReportBeforeTheFirstNotedRunIsACrash) {
  std::ofstream(path_ + "/a.cairn") << "x";
  EXPECT_EQ(Next(), CAIRN_LAST_RUN_CRASHED);
}

TEST_F(LastRun, SlotsAreWorkButNoCrash) {
  Next();
  Add("a.slot", 1);
  EXPECT_EQ(Next(), CAIRN_LAST_RUN_NO_CRASH);
  EXPECT_TRUE(work_);
}

TEST_F(LastRun, OtherFilesCountForNothing) {
  Next();
  Add("cairn.txt", 1);
  Add(".cairn", 1);
  EXPECT_EQ(Next(), CAIRN_LAST_RUN_NO_CRASH);
  EXPECT_FALSE(work_);
}

TEST_F(LastRun, MissingDirectoryIsUnknown) {
  Next();
  NoteRun(path_ + "/missing");
  EXPECT_EQ(cairn_last_run(), CAIRN_LAST_RUN_UNKNOWN);
}

TEST_F(LastRun, LinkInPlaceOfTheMarkerIsNotFollowed) {
  const std::string precious = path_ + "/precious";
  std::ofstream(precious) << "kept";
  std::filesystem::create_symlink(precious, path_ + "/last-install");
  EXPECT_EQ(Next(), CAIRN_LAST_RUN_UNKNOWN);
  EXPECT_EQ(std::filesystem::file_size(precious), 4u);
}

}  // namespace
}  // namespace cairn::client
