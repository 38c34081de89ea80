// SPDX-License-Identifier: Apache-2.0
//
// Every entry of hostile_list.h, and a table of how each went. The run fails
// when one of the ways to hold a thread was never taken in it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "report/names.h"
#include "tests/crash/crash_checks.h"
#include "tests/crash/hostile_list.h"

namespace cairn::crash {
namespace {

std::set<format::FrozenBy>& WaysTaken() {
  static auto* ways = new std::set<format::FrozenBy>;
  return *ways;
}

class HostileSurrounding : public CrashChecks,
                           public testing::WithParamInterface<Hostile> {
 protected:
  const Case& crash() const override {
    for (const Case& entry : kCases) {
      if (std::string(entry.name) == GetParam().crash) {
        return entry;
      }
    }
    std::abort();
  }
  bool Hos(unsigned flag) const { return (GetParam().flags & flag) != 0; }

  void RunEntry() {
    std::istringstream words(GetParam().options);
    std::vector<std::string> options;
    for (std::string word; words >> word;) {
      options.push_back(word);
    }
    Run(Program("crasher"), options, {});
    expect_.others = GetParam().others;
    expect_.names = !Hos(kNoNames);
    if (Hos(kCoreExpected) || Hos(kNoCore)) {
      expect_.core = Hos(kCoreExpected);
    }
  }

  // Threads that wait for a vfork child answer nobody; where they stand is told
  // by /proc.
  void CheckVfork() {
    for (const std::string& id : child_->Facts("in_vfork")) {
      for (const report::Thread& thread : report_.threads) {
        if (std::to_string(thread.id) == id) {
          EXPECT_STREQ(report::Name(thread.frozen_by), "proc");
          EXPECT_EQ(thread.name, "in-vfork");
          EXPECT_FALSE(thread.frames.empty());
        }
      }
    }
  }

  void PrintRow() {
    std::map<std::string, int> ways;
    size_t with_frames = 0;
    for (const report::Thread& thread : report_.threads) {
      ++ways[report::Name(thread.frozen_by)];
      WaysTaken().insert(thread.frozen_by);
      with_frames += thread.frames.empty() ? 0 : 1;
    }
    std::cout << "  " << GetParam().number << " " << GetParam().name
              << ": status 0x" << std::hex << child_->status << std::dec
              << ", threads " << with_frames << " of " << report_.threads.size()
              << ", held by";
    for (const auto& [way, count] : ways) {
      std::cout << " " << way << " " << count;
    }
    if (!child_->reports.empty()) {
      std::cout << ", " << std::filesystem::file_size(child_->reports[0])
                << " bytes";
    }
    const std::string uid = child_->Fact("uid");
    std::cout << ", uid " << (uid.empty() ? "0" : uid) << ", CapEff "
              << (uid.empty() ? "of root" : child_->Fact("capeff"))
              << std::endl;
  }
};

TEST_P(HostileSurrounding, Report) {
  RunEntry();
  if (!Hos(kNoUser)) {
    ASSERT_EQ(child_->Fact("uid"), "65534") << child_->errors;
    ASSERT_EQ(child_->Fact("capeff").find_first_not_of('0'), std::string::npos);
  }
  CheckAll();
  CheckVfork();
  PrintRow();
}

INSTANTIATE_TEST_SUITE_P(All,
                         HostileSurrounding,
                         testing::ValuesIn(kHostile),
                         [](const testing::TestParamInfo<Hostile>& parameter) {
                           return std::string(parameter.param.name);
                         });

// With a parameter, as those run behind the others in the order of definition.
class HostileRun : public testing::TestWithParam<int> {};
TEST_P(HostileRun, EveryWayToHoldAThreadWasTaken) {
  if (testing::UnitTest::GetInstance()->test_to_run_count() < 10) {
    return;  // one entry alone
  }
  for (const format::FrozenBy way : {format::FrozenBy::kSelf,
                                     format::FrozenBy::kPtrace,
                                     format::FrozenBy::kSignal,
                                     format::FrozenBy::kProc}) {
    EXPECT_EQ(WaysTaken().count(way), 1u) << report::Name(way);
  }
}
INSTANTIATE_TEST_SUITE_P(Behind, HostileRun, testing::Values(0));

}  // namespace
}  // namespace cairn::crash
