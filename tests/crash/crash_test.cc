// SPDX-License-Identifier: Apache-2.0
//
// Every crash of crash_list.h, for real.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>
#include <iostream>
#include <set>

#include "tests/crash/crash_checks.h"
#include "tests/crash/hostile_list.h"

namespace cairn::crash {
namespace {

class CrashList : public CrashChecks, public testing::WithParamInterface<Case> {
 protected:
  const Case& crash() const override { return GetParam(); }
};

TEST_P(CrashList, Report) {
  Run(Program("crasher"), {}, {});
  expect_.threads = !Has(kNoThreads);
  CheckAll();
}

// With the writer gone right behind the first stage the report stands: signal,
// images, the crashed stack.
TEST_P(CrashList, FirstStageAlone) {
  Run(Program("crasher"), {}, {"CAIRN_TEST_STOP_AFTER=first-stage"});
  CheckDeath();
  ASSERT_NO_FATAL_FAILURE(ReadOnlyReport());
  ASSERT_NO_FATAL_FAILURE(CheckSignal());
  CheckFacts();
  ASSERT_NO_FATAL_FAILURE(CheckCrashedStack());
  EXPECT_EQ(report_.threads.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(All,
                         CrashList,
                         testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case>& parameter) {
                           return std::string(parameter.param.name);
                         });

// Every numbered condition names the entry that shows it, and every entry of
// the hostile list has its condition.
TEST(Conditions, EachHasAnEntryOrIsOpen) {
  std::set<std::string> entries, starred;
  for (const Case& entry : kCases) {
    entries.insert(entry.name);
  }
  std::ifstream file(CAIRN_CONDITIONS);
  int open = 0, shown = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') {
      continue;
    }
    const std::string number = line.substr(0, line.find(" | "));
    const std::string entry = line.substr(line.rfind(" | ") + 3);
    if (entry == "open") {
      std::cout << "  open: " << line << "\n";
      ++open;
    } else if (entry == "*") {
      starred.insert(number);
      ++shown;
    } else {
      EXPECT_EQ(entries.count(entry), 1u) << line;
      ++shown;
    }
  }
  std::set<std::string> hostile;
  for (const Hostile& entry : kHostile) {
    hostile.insert(entry.number);
  }
  EXPECT_EQ(starred, hostile);
  EXPECT_GT(shown, 0);
  std::cout << shown << " conditions shown, " << open << " open" << std::endl;
}

// The allocator trap bites: a callback that allocates ends the child with the
// trap's own exit code.
TEST(AllocatorTrap, Bites) {
  const Child child = RunChild(Program("crasher"), {"trap_bites"});
  ASSERT_TRUE(WIFEXITED(child.status)) << child.status;
  EXPECT_EQ(WEXITSTATUS(child.status), 99);
  EXPECT_NE(child.errors.find("allocator was called"), std::string::npos);
}

}  // namespace
}  // namespace cairn::crash
