// SPDX-License-Identifier: Apache-2.0
//
// Every crash of crash_list.h, for real: the crasher is run, its report is read
// with the shipped reader, and compared with what the child said of itself,
// with nm, and with the list.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "report/names.h"
#include "report/reader.h"
#include "tests/crash/child.h"
#include "tests/crash/crash_list.h"

namespace cairn::crash {
namespace {

using report::Frame;
using report::Report;
using report::Thread;

const std::string kCrasher = std::string(CAIRN_BINARY_DIR) + "/bin/crasher";

const NmSymbols& Symbols() {
  static const NmSymbols* symbols = new NmSymbols(kCrasher);
  return *symbols;
}

// The crasher's function that holds a frame, by nm; "" in other modules.
std::string FunctionOf(const Report& report, const Frame& frame) {
  if (!frame.image || report.images[*frame.image].path != kCrasher) {
    return "";
  }
  const uint64_t lookup = frame.kind == format::FrameKind::kReturn
                              ? frame.address - 1
                              : frame.address;
  return Symbols().FunctionAt(
      lookup - static_cast<uint64_t>(report.images[*frame.image].link_bias));
}

std::string Describe(const Report& report, const Thread& thread) {
  std::ostringstream text;
  for (const Frame& frame : thread.frames) {
    text << std::hex << frame.address << " " << report::Name(frame.trust) << " "
         << FunctionOf(report, frame);
    if (frame.image) {
      text << " " << report.images[*frame.image].path << "+"
           << frame.image_offset;
    }
    text << "\n";
  }
  text << "end: " << (thread.end ? report::Name(*thread.end) : "none") << "\n";
  return text.str();
}

class CrashList : public testing::TestWithParam<Case> {
 protected:
  bool Has(unsigned flag) const { return (GetParam().flags & flag) != 0; }

  void Run(const std::vector<std::string>& environment) {
    child_.emplace(RunChild(kCrasher, {GetParam().name}, environment));
  }

  void CheckDeath() {
    const int status = Has(kChild)
                           ? std::stoi("0" + child_->Fact("child_status"))
                           : child_->status;
    if (Has(kChild)) {
      EXPECT_EQ(child_->status, 0) << child_->errors;
    }
    if (Has(kSurvives)) {
      EXPECT_EQ(status, 0) << child_->errors;
      EXPECT_EQ(child_->Fact("mended"), "here");
      EXPECT_EQ(child_->Fact("went_on"), "1");
      return;
    }
    ASSERT_TRUE(WIFSIGNALED(status))
        << std::hex << status << " " << child_->errors;
    EXPECT_EQ(WTERMSIG(status), GetParam().signal) << child_->errors;
  }

  void ReadOnlyReport() {
    // Exactly one; slots that nobody used are gone with the process or left for
    // reaping.
    ASSERT_EQ(child_->reports.size(), 1u) << child_->errors;
    report::ReadResult result = report::ReadReportFile(child_->reports[0]);
    ASSERT_EQ(result.status, report::ReadStatus::kWhole)
        << result.error
        << (result.report.problems.empty() ? ""
                                           : result.report.problems[0].text);
    report_ = std::move(result.report);
    EXPECT_TRUE(report_.complete);
  }

  void CheckSignal() {
    ASSERT_TRUE(report_.signal.has_value());
    const report::Signal& signal = *report_.signal;
    EXPECT_EQ(signal.number, static_cast<uint32_t>(GetParam().signal));
    if (GetParam().code != kAnyCode) {
      EXPECT_EQ(signal.code, GetParam().code);
    }
    if (GetParam().fault_kind[0] != '\0') {
      ASSERT_TRUE(signal.fault_kind.has_value());
      EXPECT_STREQ(report::Name(*signal.fault_kind), GetParam().fault_kind);
    }
    if (Has(kFaultAddress)) {
      ASSERT_TRUE(signal.fault_address.has_value());
      EXPECT_EQ(*signal.fault_address, *child_->Address("fault_address"));
    }
    if (Has(kSent)) {
      const std::string sender = child_->Fact("sender");
      EXPECT_EQ(signal.sender_pid.value_or(0),
                sender.empty() ? static_cast<uint64_t>(getpid())
                               : std::stoull(sender));
    }
    EXPECT_EQ(report_.kind,
              Has(kSurvives) ? format::EventKind::kSurvived
                             : format::EventKind::kCrash);
  }

  void CheckSayings() {
    EXPECT_EQ(report_.app.id, "org.cairn.crasher");
    EXPECT_EQ(report_.app.version, "1.2.3");
    ASSERT_EQ(report_.keys.size(), 1u);
    EXPECT_EQ(report_.keys[0].second, "blue");
    ASSERT_EQ(report_.breadcrumbs.size(), 1u);
    EXPECT_EQ(report_.breadcrumbs[0].message, "about to crash");
    if (Has(kException)) {
      ASSERT_TRUE(report_.exception.has_value());
      EXPECT_EQ(report_.exception->type_mangled,
                child_->Fact("exception_type"));
      EXPECT_EQ(report_.exception->message, child_->Fact("exception_message"));
    }
    if (Has(kAbortMessage)) {
      EXPECT_NE(report_.abort_message.find(child_->Fact("abort_message")),
                std::string::npos)
          << report_.abort_message;
    }
  }

  // The crashed thread is first, is the child's, and its stack is the child's
  // own: behind the crash function every return address equals glibc's
  // backtrace.
  void CheckCrashedStack() {
    ASSERT_FALSE(report_.threads.empty());
    const Thread& thread = report_.threads[0];
    EXPECT_TRUE(thread.crashed);
    if (Has(kSeveral)) {
      const std::vector<std::string> ids = child_->Facts("one_of");
      EXPECT_EQ(std::count(ids.begin(), ids.end(), std::to_string(thread.id)),
                1);
    } else {
      std::istringstream crashing(child_->Fact("crashing"));
      uint64_t id = 0;
      std::string name;
      crashing >> id >> name;
      EXPECT_EQ(thread.id, id);
      EXPECT_EQ(thread.name, name);
    }
    ASSERT_FALSE(thread.frames.empty());
    EXPECT_EQ(thread.frames[0].kind, format::FrameKind::kFault);
    EXPECT_EQ(thread.frames[0].trust, format::FrameTrust::kContext);
    ASSERT_TRUE(thread.end.has_value());
    EXPECT_EQ(*thread.end, format::WalkEnd::kEndOfStack)
        << Describe(report_, thread);
    for (const Frame& frame : thread.frames) {
      EXPECT_NE(frame.trust, format::FrameTrust::kScan)
          << Describe(report_, thread);
    }
    if (Has(kWrongCode)) {
      EXPECT_EQ(thread.frames[0].address, *child_->Address("fault_address"));
    }
    CheckDepth(thread);
    CheckBacktrace(thread);
  }

  void CheckDepth(const Thread& thread) {
    if (!Has(kDeep)) {
      EXPECT_EQ(thread.gap_frames, 0u);
      return;
    }
    EXPECT_EQ(thread.frames.size(), 512u);
    EXPECT_EQ(thread.gap_position, 256u);
    EXPECT_GT(thread.gap_frames, 1000u);
    bool told = false;
    for (const report::Cut& cut : report_.cuts) {
      told = told || (cut.what == format::CutWhat::kFrames &&
                      cut.dropped == thread.gap_frames);
    }
    EXPECT_TRUE(told);
    // Both ends: the recursion inside, the thread's start outside.
    const std::string inner = FunctionOf(report_, thread.frames[2]);
    EXPECT_TRUE(inner == "use_up_the_stack" || inner == "go_deep") << inner;
    bool start = false;
    for (size_t i = thread.frames.size() - 6; i < thread.frames.size(); ++i) {
      const std::string function = FunctionOf(report_, thread.frames[i]);
      start = start || function == "main" || function == "overflow_body";
    }
    EXPECT_TRUE(start) << Describe(report_, thread);
  }

  void CheckBacktrace(const Thread& thread) {
    if (Has(kNoBacktrace) || child_->Fact("backtrace").empty()) {
      return;
    }
    std::istringstream words(child_->Fact("backtrace"));
    std::vector<uint64_t> expected;
    for (std::string word; words >> word;) {
      expected.push_back(std::stoull(word, nullptr, 16));
    }
    ASSERT_GE(expected.size(), 2u);
    const uint64_t second = expected[1];
    size_t at = 0;
    while (at < thread.frames.size() && thread.frames[at].address != second) {
      ++at;
    }
    ASSERT_LT(at, thread.frames.size()) << Describe(report_, thread);
    std::vector<uint64_t> found;
    for (size_t i = at; i < thread.frames.size(); ++i) {
      found.push_back(thread.frames[i].address);
    }
    expected.erase(expected.begin());
    EXPECT_EQ(found, expected) << Describe(report_, thread);
    // The frame inside is the crash function itself, at the fault.
    ASSERT_GT(at, 0u);
    const Frame& own = thread.frames[at - 1];
    ASSERT_TRUE(own.image.has_value()) << Describe(report_, thread);
    const uint64_t call = std::stoull(child_->Fact("backtrace"), nullptr, 16);
    const uint64_t bias =
        static_cast<uint64_t>(report_.images[*own.image].link_bias);
    EXPECT_EQ(FunctionOf(report_, own), Symbols().FunctionAt(call - 1 - bias));
  }

  void CheckOtherThreads() {
    const std::vector<std::string> told = child_->Facts("thread");
    if (Has(kChild)) {
      EXPECT_EQ(report_.threads.size(), 1u);
      return;
    }
    for (const std::string& line : told) {
      std::istringstream words(line);
      uint64_t id = 0;
      std::string name;
      words >> id >> name;
      const Thread* found = nullptr;
      for (const Thread& thread : report_.threads) {
        found = thread.id == id ? &thread : found;
      }
      ASSERT_NE(found, nullptr) << line;
      EXPECT_EQ(found->name, name);
      EXPECT_FALSE(found->crashed);
      EXPECT_EQ(found->frozen_by, format::FrozenBy::kPtrace);
      EXPECT_EQ(found->state, 'S');
      EXPECT_FALSE(found->registers.empty());
      EXPECT_EQ(found->end.value_or(format::WalkEnd::kLimit),
                format::WalkEnd::kEndOfStack)
          << Describe(report_, *found);
      bool parked = false;
      for (const Frame& frame : found->frames) {
        parked = parked || FunctionOf(report_, frame).find("parked_thread") !=
                               std::string::npos;
      }
      EXPECT_TRUE(parked) << Describe(report_, *found);
    }
    if (Has(kManyThreads)) {
      EXPECT_GE(report_.threads.size(), 103u);
    }
    CheckSeveral();
  }

  // Exactly one report (read before); at least the winner is told as crashed.
  // That every other one is told too is not checked: which of them got that far
  // is up to chance.
  void CheckSeveral() {
    if (!Has(kSeveral)) {
      return;
    }
    std::set<uint64_t> crashed;
    for (const Thread& thread : report_.threads) {
      if (thread.crashed) {
        crashed.insert(thread.id);
      }
    }
    EXPECT_GE(crashed.size(), 1u);
  }

  void CheckFacts() {
    ASSERT_FALSE(report_.images.empty());
    EXPECT_EQ(report_.images[0].path, kCrasher);
    EXPECT_FALSE(report_.images[0].id.empty());
    EXPECT_TRUE(report_.process.pid.has_value());
    EXPECT_FALSE(report_.host.kernel.empty());
    EXPECT_FALSE(report_.threads[0].registers.empty());
  }

  std::optional<Child> child_;
  Report report_;
};

TEST_P(CrashList, Report) {
  Run({});
  CheckDeath();
  ASSERT_NO_FATAL_FAILURE(ReadOnlyReport());
  ASSERT_NO_FATAL_FAILURE(CheckSignal());
  CheckFacts();
  CheckSayings();
  ASSERT_NO_FATAL_FAILURE(CheckCrashedStack());
  if (!Has(kNoThreads)) {
    CheckOtherThreads();
  }
}

// With the writer gone right behind the first stage the report stands: signal,
// images, the crashed stack.
TEST_P(CrashList, FirstStageAlone) {
  Run({"CAIRN_TEST_STOP_AFTER=first-stage"});
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

// The allocator trap bites: a callback that allocates ends the child with the
// trap's own exit code.
TEST(AllocatorTrap, Bites) {
  const Child child = RunChild(kCrasher, {"trap_bites"});
  ASSERT_TRUE(WIFEXITED(child.status)) << child.status;
  EXPECT_EQ(WEXITSTATUS(child.status), 99);
  EXPECT_NE(child.errors.find("allocator was called"), std::string::npos);
}

}  // namespace
}  // namespace cairn::crash
