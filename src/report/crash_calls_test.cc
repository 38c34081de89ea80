// SPDX-License-Identifier: Apache-2.0
//
// The stacks are what gdb prints for programs that end that way, built with GCC
// 12 and glibc 2.36, with Clang 19 and libc++, and with rustc.
#include "report/crash_calls.h"

#include <gtest/gtest.h>

#include "report/text.h"

namespace cairn::report {
namespace {

constexpr uint32_t kApp = 0, kLibc = 1, kCairn = 2, kStandard = 3;

Frame Bare(uint32_t image, uint64_t offset) {
  Frame frame;
  frame.image = image;
  frame.image_offset = offset;
  frame.trust = format::FrameTrust::kCfi;
  return frame;
}

Frame Named(uint32_t image, const std::string& function) {
  Frame frame = Bare(image, 0x10);
  frame.symbols.emplace_back().function = function;
  return frame;
}

Report Died(uint32_t signal, std::vector<Frame> frames) {
  Report report;
  report.operating_system = format::OperatingSystem::kLinux;
  report.signal.emplace().number = signal;
  for (const char* path : {"/opt/app/bin/app",
                           "/usr/lib/x86_64-linux-gnu/libc.so.6",
                           "/opt/app/lib/libcairn.so.0",
                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"}) {
    report.images.emplace_back().path = path;
  }
  Thread& thread = report.threads.emplace_back();
  thread.crashed = true;
  thread.frames = std::move(frames);
  return report;
}

// Token and place in the thread's frames.
std::string Culprit(const Report& report) {
  const std::optional<Call> call = CulpritOf(report);
  return call ? call->token : "none";
}

std::vector<Frame> AbortedIn(std::vector<Frame> outer) {
  std::vector<Frame> frames = {Named(kLibc, "__pthread_kill_implementation"),
                               Named(kLibc, "__GI_raise"),
                               Named(kLibc, "__GI_abort")};
  frames.insert(frames.end(), outer.begin(), outer.end());
  frames.push_back(Named(kApp, "main"));
  return frames;
}

TEST(CulpritOf, UncaughtExceptionIsWhereItWasThrown) {
  const std::vector<Frame> thrown = {
      Named(kApp, "cairn::client::(anonymous namespace)::OnTerminate()"),
      Named(kStandard, "__cxxabiv1::__terminate(void (*)())"),
      Named(kStandard, "std::terminate()"),
      Named(kStandard, "__cxa_throw"),
      Named(kApp, "app::Parse(std::string const&)")};
  Report report = Died(6, AbortedIn(thrown));
  report.exception.emplace().type_mangled = "St13runtime_error";
  EXPECT_EQ(Culprit(report), "app::Parse");
  EXPECT_EQ(Headline(report),
            "uncaught std::runtime_error in app::Parse(std::string const&)");
}

TEST(CulpritOf, EarlierTerminateHandlerAndNoexceptAreNoPlaces) {
  EXPECT_EQ(
      Culprit(Died(
          6,
          AbortedIn(
              {Named(kStandard, "__gnu_cxx::__verbose_terminate_handler()"),
               Named(kApp, "cairn::client::OnTerminate()"),
               Named(kStandard, "__cxxabiv1::__terminate(void (*)())"),
               Named(kStandard, "__cxa_call_terminate"),
               Named(kStandard, "__gxx_personality_v0"),
               Named(kStandard, "_Unwind_RaiseException_Phase2"),
               Named(kStandard, "_Unwind_RaiseException"),
               Named(kStandard, "__cxa_throw"),
               Named(kApp, "app::Draw() const")}))),
      "app::Draw");
  EXPECT_EQ(
      Culprit(Died(6,
                   AbortedIn({Named(kApp, "abort_message"),
                              Named(kApp, "demangling_terminate_handler()"),
                              Named(kApp, "std::__terminate(void (*)())"),
                              Named(kApp, "__clang_call_terminate"),
                              Named(kApp, "app::Draw()")}))),
      "app::Draw");
}

TEST(CulpritOf, LibraryThatThrowsForItsCallerIsNoPlace) {
  EXPECT_EQ(Culprit(Died(
                6,
                AbortedIn({Named(kStandard,
                                 "std::__throw_out_of_range_fmt(char "
                                 "const*, ...)"),
                           Named(kApp,
                                 "std::vector<int, std::allocator<int> >::"
                                 "_M_range_check(unsigned long) const"),
                           Named(kApp,
                                 "std::vector<int, std::allocator<int> >::at("
                                 "unsigned long)"),
                           Named(kApp, "app::Third()")}))),
            "app::Third");
}

TEST(CulpritOf, AssertFortifyAndHeapChecksAreNoPlaces) {
  EXPECT_EQ(Culprit(Died(6,
                         AbortedIn({Named(kLibc, "__assert_fail_base"),
                                    Named(kLibc, "__GI___assert_fail"),
                                    Named(kApp, "app::Check()")}))),
            "app::Check");
  EXPECT_EQ(Culprit(Died(6,
                         AbortedIn({Named(kLibc, "__libc_message"),
                                    Named(kLibc, "__GI___fortify_fail"),
                                    Named(kLibc, "__GI___chk_fail"),
                                    Named(kLibc, "__strcpy_chk"),
                                    Named(kApp, "app::Copy()")}))),
            "app::Copy");
  EXPECT_EQ(Culprit(Died(6,
                         AbortedIn({Named(kLibc, "__libc_message"),
                                    Named(kLibc, "malloc_printerr"),
                                    Named(kLibc, "_int_free"),
                                    Named(kLibc, "__GI___libc_free"),
                                    Named(kApp, "app::Close()")}))),
            "app::Close");
}

TEST(CulpritOf, PanicOfRustIsNoPlace) {
  EXPECT_EQ(Culprit(Died(
                6,
                AbortedIn({Named(kApp, "std::sys::unix::abort_internal"),
                           Named(kApp, "std::panicking::rust_panic"),
                           Named(kApp, "rust_begin_unwind"),
                           Named(kApp, "core::panicking::panic_fmt"),
                           Named(kApp, "core::result::unwrap_failed"),
                           Named(kApp, "photos::open::h0123456789abcdef")}))),
            "photos::open");
}

TEST(CulpritOf, WithoutNamesModulesDecide) {
  Report report = Died(6,
                       {Bare(kLibc, 0x8ae3c),
                        Bare(kLibc, 0x3cfb2),
                        Bare(kCairn, 0x5000),
                        Bare(kStandard, 0x9000),
                        Bare(kApp, 0x1234),
                        Bare(kApp, 0x99)});
  EXPECT_EQ(Culprit(report), "app+0x1234");
  EXPECT_EQ(Headline(report), "SIGABRT (SI_USER) in app+0x1234");
}

TEST(CulpritOf, OwnSignalIsWhereItWasRaised) {
  Report report = Died(11,
                       {Bare(kLibc, 0x8ae3c),
                        Bare(kLibc, 0x3cfb2),
                        Named(kApp, "app::GiveUp()")});
  report.process.pid = 70;
  report.signal->sender_pid = 71;
  EXPECT_EQ(Culprit(report), "libc.so.6");
  report.signal->sender_pid = 70;
  EXPECT_EQ(Culprit(report), "app::GiveUp");
}

TEST(CulpritOf, FaultIsWhereItHappened) {
  EXPECT_EQ(
      Culprit(Died(
          11, {Named(kLibc, "__strlen_avx2"), Named(kApp, "app::Show()")})),
      "__strlen_avx2");
}

TEST(CulpritOf, CaptureIsItsCaller) {
  Report report = Died(0,
                       {Named(kCairn, "cairn::handlers::Capture()"),
                        Named(kCairn, "cairn_capture"),
                        Named(kApp, "app::Slow()")});
  report.signal.reset();
  report.kind = format::EventKind::kCapture;
  EXPECT_EQ(Culprit(report), "app::Slow");
}

TEST(CulpritOf, InlinedPlaceIsToldByItsSymbol) {
  Frame frame = Named(kApp, "app::Outer()");
  frame.symbols.insert(frame.symbols.begin(), 2, SymbolFrame{});
  frame.symbols[0].function = "std::terminate()";
  frame.symbols[1].function = "app::Inner()";
  const Report report = Died(6, AbortedIn({frame}));
  const std::optional<Call> call = CulpritOf(report);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->frame, &report.threads[0].frames[3]);
  EXPECT_EQ(call->symbol, 1u);
  EXPECT_EQ(Headline(report), "SIGABRT (SI_USER) in app::Inner()");
}

TEST(CulpritOf, NothingButEndingsIsTheInnermost) {
  EXPECT_EQ(Culprit(Died(6, {Named(kLibc, "abort")})), "abort");
  EXPECT_EQ(Culprit(Died(6, {})), "none");
  EXPECT_EQ(Culprit(Report{}), "none");
}

TEST(CulpritOf, NamespaceOfTheAppIsNotCairns) {
  EXPECT_EQ(Culprit(Died(6, AbortedIn({Named(kApp, "cairn::Summit()")}))),
            "cairn::Summit");
}

TEST(CrashCalls, ScannedFramesHelpOutAndTheOuterEndDoesNot) {
  Frame scanned = Named(kApp, "app::Scanned()");
  scanned.trust = format::FrameTrust::kScan;
  Report report = Died(
      6, {Named(kLibc, "abort"), scanned, Named(kApp, "app::ThreadBody()")});
  EXPECT_EQ(Culprit(report), "app::ThreadBody");
  report.threads[0].gap_position = 2;
  report.threads[0].gap_frames = 120;
  EXPECT_EQ(Culprit(report), "app::Scanned");
}

TEST(CrashCalls, AreBounded) {
  Frame wide = Named(kApp, "f()");
  wide.symbols.resize(100'000, wide.symbols[0]);
  const Report report = Died(11, std::vector<Frame>(3, wide));
  EXPECT_EQ(CrashCalls(report).size(), kMaxCrashCalls);
}

TEST(FrameRules, KnowTheRoles) {
  EXPECT_EQ(RoleOf("raise"), FrameRole::kEnding);
  EXPECT_EQ(RoleOf("std::vector<T>::at"), FrameRole::kHelper);
  EXPECT_EQ(RoleOf("std::terminate"), FrameRole::kEnding);
  EXPECT_EQ(RoleOf("strange"), FrameRole::kPlace);
  EXPECT_EQ(RoleOf("clone"), FrameRole::kBase);
  EXPECT_TRUE(IsSystemModule("libc.so.6"));
  EXPECT_FALSE(IsSystemModule("libcairn.so"));
  EXPECT_TRUE(IsReporterModule("libcairn.so.0"));
  EXPECT_TRUE(IsReporterModule("libcairn-preload.so"));
  EXPECT_FALSE(IsReporterModule("libcairngorm.so"));
}

}  // namespace
}  // namespace cairn::report
