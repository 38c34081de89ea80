// SPDX-License-Identifier: Apache-2.0
#include "signature.h"

#include <gtest/gtest.h>

namespace cairn::server {
namespace {

using report::Frame;
using report::Report;
using report::Thread;

report::Image ImageAt(const std::string& path) {
  report::Image image;
  image.path = path;
  return image;
}

Thread ThreadOf(uint64_t id, bool crashed) {
  Thread thread;
  thread.id = id;
  thread.crashed = crashed;
  return thread;
}

report::SymbolFrame Symbol(const std::string& function, bool inlined = false) {
  report::SymbolFrame symbol;
  symbol.function = function;
  symbol.inlined = inlined;
  return symbol;
}

Frame Bare(uint32_t image, uint64_t offset) {
  Frame frame;
  frame.image = image;
  frame.image_offset = offset;
  frame.trust = format::FrameTrust::kCfi;
  return frame;
}

Frame Named(const std::string& function) {
  Frame frame = Bare(0, 0);
  frame.symbols.push_back(Symbol(function));
  return frame;
}

class SignatureTest : public testing::Test {
 protected:
  SignatureTest() {
    report_.operating_system = format::OperatingSystem::kLinux;
    report_.signal.emplace().number = 11;
    report_.images = {ImageAt("/opt/app/bin/app"),
                      ImageAt("/opt/app/lib/libapp.so"),
                      ImageAt("/usr/lib/x86_64-linux-gnu/libc.so.6")};
    report_.threads.push_back(ThreadOf(1, true));
  }
  void Stack(const std::vector<std::string>& functions) {
    report_.threads[0].frames.clear();
    for (const std::string& function : functions) {
      report_.threads[0].frames.push_back(Named(function));
    }
  }
  std::string Of(const std::vector<std::string>& functions) {
    Stack(functions);
    return Signature(report_);
  }

  Report report_;
};

TEST_F(SignatureTest, TakesTheThreeInnermostPlaces) {
  EXPECT_EQ(Of({"a(int)", "b()", "c()", "d()", "main"}), "a | b | c");
}

TEST_F(SignatureTest, IsTheSameForOtherBuildsOfTheSameCode) {
  EXPECT_EQ(Of({"a(int) [clone .cold]", "void b<int>()", "c()"}),
            Of({"a(int)", "void b<long>()", "c()"}));
}

TEST_F(SignatureTest, A9_1_BasesOfThreadsDoNotGroup) {
  EXPECT_EQ(Of({"work()", "start_thread", "clone3"}), "work");
  EXPECT_NE(Of({"read_config()", "start_thread", "clone3"}),
            Of({"draw()", "start_thread", "clone3"}));
}

TEST_F(SignatureTest, A9_2_WithoutNamesModuleAndOffsetGroup) {
  report_.threads[0].frames = {Bare(0, 0x1234), Bare(1, 0x10), Bare(0, 0x99)};
  EXPECT_EQ(Signature(report_), "app+0x1234 | libapp.so+0x10 | app+0x99");
  std::string one = Signature(report_);
  report_.threads[0].frames[0].image_offset = 0x1240;
  EXPECT_NE(Signature(report_), one);
}

TEST_F(SignatureTest, SystemModulesWithoutNamesAreHelpers) {
  report_.threads[0].frames = {Bare(2, 0x8ae3c),
                               Bare(2, 0x3cfb2),
                               Bare(0, 0x10),
                               Bare(0, 0x20),
                               Bare(0, 0x30)};
  EXPECT_EQ(Signature(report_), "libc.so.6 | app+0x10 | app+0x20 | app+0x30");
}

TEST_F(SignatureTest, SystemModulesOfAnAbortAndOfAThreadsStartAreLeftOut) {
  report_.threads[0].frames = {
      Bare(2, 0x8ae3c), Bare(2, 0x3cfb2), Bare(0, 0x10), Bare(2, 0x891c4)};
  EXPECT_EQ(Signature(report_), "libc.so.6 | app+0x10");
  report_.signal->number = 6;
  EXPECT_EQ(Signature(report_), "app+0x10");
}

TEST_F(SignatureTest, A9_3_AHandlerThatRaisesAgainIsLeftOut) {
  EXPECT_EQ(Of({"__pthread_kill_implementation",
                "raise",
                "on_crash(int)",
                "__restore_rt",
                "broken()",
                "main"}),
            "broken | main");
}

TEST_F(SignatureTest, ACrashInsideAHandlerStaysThere) {
  EXPECT_EQ(Of({"on_signal(int)", "__restore_rt", "busy()", "main"}),
            "on_signal | busy | main");
}

TEST_F(SignatureTest, A9_4_EndingsAreLeftOut) {
  EXPECT_EQ(Of({"__pthread_kill_implementation",
                "raise",
                "abort",
                "__assert_fail_base",
                "__assert_fail",
                "check()",
                "main"}),
            "check | main");
  EXPECT_EQ(Of({"abort"}), "abort");
}

TEST_F(SignatureTest, HelpersAreShownButUseUpNoPlace) {
  EXPECT_EQ(Of({"__memcpy_avx_unaligned_erms",
                "std::vector<int>::push_back(int&&)",
                "a()",
                "b()",
                "c()",
                "d()"}),
            "__memcpy_avx_unaligned_erms | std::vector<T>::push_back | a | b | "
            "c");
}

TEST_F(SignatureTest, A9_5_OnlyTheCrashedThreadCounts) {
  Stack({"a()"});
  report_.threads.insert(report_.threads.begin(), ThreadOf(2, false));
  report_.threads[0].frames.push_back(Named("other()"));
  EXPECT_EQ(Signature(report_), "a");
  report_.threads[1].crashed = false;
  EXPECT_EQ(Signature(report_), "other");
}

TEST_F(SignatureTest, A9_6_ExceptionsAreGroupedByTypeToo) {
  report_.exception = report::Exception{.type_mangled = "St13runtime_error",
                                        .message = "user 4711 not found"};
  EXPECT_EQ(Of({"abort", "__cxa_throw", "find()", "main"}),
            "exception std::runtime_error | find | main");
}

TEST_F(SignatureTest, A9_11_EveryInlinedCallCounts) {
  Frame frame = Named("outer()");
  frame.symbols.insert(frame.symbols.begin(), Symbol("inner()", true));
  report_.threads[0].frames = {frame, Named("main")};
  EXPECT_EQ(Signature(report_), "inner | outer | main");
}

TEST_F(SignatureTest, DirectRecursionCountsOnce) {
  EXPECT_EQ(Of({"walk()", "walk()", "walk()", "main"}), "walk | main");
}

TEST_F(SignatureTest, AStackOverflowIsItsCycleWhereverItEnds) {
  report_.signal->fault_kind = format::FaultKind::kStackGuard;
  std::string one = Of({"b()", "a()", "b()", "a()", "b()", "a()", "b()"});
  EXPECT_EQ(one, "stack overflow | a | b");
  EXPECT_EQ(Of({"leaf()", "a()", "b()", "a()", "b()", "a()", "b()"}), one);
}

TEST_F(SignatureTest, GuessesCountOnlyWhereThereIsNothingElse) {
  Frame guess = Named("guess()");
  guess.trust = format::FrameTrust::kScan;
  report_.threads[0].frames = {Named("a()"), guess, Named("main")};
  EXPECT_EQ(Signature(report_), "a | main");
  report_.threads[0].frames = {guess};
  EXPECT_EQ(Signature(report_), "guess");
}

TEST_F(SignatureTest, NamesOfAnotherBuildDoNotCount) {
  Frame frame = Named("wrong()");
  frame.symbols[0].name_sure = false;
  frame.image_offset = 0x77;
  report_.threads[0].frames = {frame};
  EXPECT_EQ(Signature(report_), "app+0x77");
}

TEST_F(SignatureTest, OtherKindsStandApart) {
  report_.kind = format::EventKind::kHang;
  EXPECT_EQ(Of({"poll", "loop()"}), "hang | poll | loop");
}

TEST_F(SignatureTest, WithoutAStackTheSignalIsLeft) {
  report_.threads[0].frames.clear();
  EXPECT_EQ(Signature(report_), "no stack, SIGSEGV");
  report_.threads.clear();
  EXPECT_EQ(Signature(report_), "no stack, SIGSEGV");
}

TEST_F(SignatureTest, IsBounded) {
  EXPECT_LE(Of({std::string(5000, 'a'), std::string(5000, 'b')}).size(),
            kMaxSignatureBytes);
}

}  // namespace
}  // namespace cairn::server
