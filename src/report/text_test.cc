// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <gtest/gtest.h>

#include "report/reader.h"
#include "report/text_out.h"
#include "samples/samples.h"

namespace cairn::report {
namespace {

Report Read(const std::vector<uint8_t>& bytes) {
  return ReadReport(bytes.data(), bytes.size()).report;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Text, HeadTellsWhatWhyAndWhereInItsFirstLines) {
  const std::string text = ToText(Read(samples::Simple()));
  EXPECT_EQ(
      text.substr(0, text.find("  app")),
      "SIGSEGV (SEGV_MAPERR) at 0x0\n"
      "in crash_here(int*) at /src/shop/main.cc:12\n"
      "\n"
      "  why         invalid memory access: a null pointer was followed\n");
}

TEST(Text, SentSignalNamesItsSender) {
  Report report = Read(samples::Simple());
  report.signal->sender_pid = 4712;
  EXPECT_TRUE(
      Has(ToText(report), "nothing faulted: process 4712 sent the signal"));
  report.signal->sender_pid = report.process.pid;
  EXPECT_TRUE(Has(ToText(report),
                  "nothing faulted: the process sent the signal to itself"));
  report.signal->number = 6;
  EXPECT_FALSE(Has(ToText(report), "nothing faulted"));
}

TEST(Text, HeadlineIsOneLine) {
  EXPECT_EQ(Headline(Read(samples::Simple())),
            "SIGSEGV (SEGV_MAPERR) at 0x0 in crash_here(int*)");
  Report report = Read(samples::Rich());
  report.exception->message = "two\nlines\x1b[2J";
  EXPECT_EQ(Headline(report),
            "uncaught player::DecodeError: two\\nlines\\x1b[2J in "
            "player::Bits::Next()");
}

// S2.4, S5.2, S5.3: index, address as recorded, image, function + offset.
TEST(Text, S2_4_S5_2_S5_3_RowsHaveTheSystemsShape) {
  Report report;
  report.images.resize(1);
  report.images[0].path = "/Applications/MyApp.app/MyApp";
  Thread thread;
  thread.crashed = true;
  for (const uint64_t address : {0x100003000u, 0x100003124u}) {
    Frame frame;
    frame.image = 0;
    frame.address = address;
    frame.trust = format::FrameTrust::kCfi;
    frame.symbols.emplace_back();
    frame.symbols[0].function = address == 0x100003000u ? "funcC" : "funcB";
    frame.symbols[0].offset = address & 0xff;
    thread.frames.push_back(frame);
  }
  report.threads.push_back(thread);
  const std::string text = ToText(report);
  EXPECT_TRUE(Has(text, "\n 0  0x100003000  MyApp  funcC + 0\n")) << text;
  EXPECT_TRUE(Has(text, "\n 1  0x100003124  MyApp  funcB + 36\n")) << text;
}

// A3.24: a frame found by scanning is marked; one from unwind tables is not.
TEST(Text, A3_24_WeakTrustIsShown) {
  const std::string text = ToText(Read(samples::Rich()));
  EXPECT_TRUE(
      Has(text, "old codec.so+0x1234  (found by scanning, may be stale)"));
  EXPECT_TRUE(Has(text, "player+0x5210  (by frame pointer)"));
  EXPECT_TRUE(Has(text, "abort + 215\n"));
}

// A3.38: what was cut is told, at its place and in the list of cuts.
TEST(Text, A3_38_DroppedFramesAreTold) {
  const std::string text = ToText(Read(samples::Rich()));
  EXPECT_TRUE(Has(text, "    … 120 frames were left out here …\n 6  0x405210"));
  EXPECT_TRUE(Has(text, "frames: 8 kept, 120 dropped (thread 905)"));
}

// A7.1: no name is made up where there is none.
TEST(Text, A7_1_NamelessFrameIsModuleAndOffset) {
  const std::string text = ToText(Read(samples::Rich()));
  EXPECT_TRUE(Has(text, "libstdc++.so.6.0.30  libstdc++.so.6.0.30+0xb0701\n"));
}

// A6.26: a return into an unloaded library is shown as such.
TEST(Text, A6_26_UnloadedImageIsShown) {
  EXPECT_TRUE(Has(ToText(Read(samples::Rich())), "(unloaded)\n"));
}

TEST(Text, InlinedCallIsARowBeforeItsHolder) {
  const std::string text = ToText(Read(samples::Rich()));
  const size_t inlined = text.find(
      " 3  0x404100        player               player::Bits::Next() + 96 "
      "[inlined]  /src/player/bits.h:44");
  const size_t holder = text.find(
      " 4  0x404100        player               "
      "player::Decoder::Step() + 96");
  ASSERT_NE(inlined, std::string::npos);
  EXPECT_LT(inlined, holder);
}

TEST(Text, EqualStacksAreFolded) {
  const std::string text = ToText(Read(samples::Rich()));
  EXPECT_TRUE(Has(text, "\n37 threads with this stack: pool-0, pool-1"));
  EXPECT_TRUE(Has(text, " more\n"));
  EXPECT_TRUE(Has(text, "\n3 threads with this stack: pool-10, pool-20"));
}

TEST(Text, RawLeavesNamesOut) {
  const std::string text = ToText(Read(samples::Simple()), {.raw = true});
  EXPECT_FALSE(Has(text, "crash_here"));
  EXPECT_TRUE(Has(text, " 0  0x555555555149  shop       shop+0x1149\n"));
}

TEST(Text, ColourOnlyWhenAsked) {
  const Report report = Read(samples::Simple());
  EXPECT_FALSE(Has(ToText(report), "\x1b"));
  EXPECT_TRUE(Has(ToText(report, {.color = true}), "\x1b[1;31mSIGSEGV"));
}

TEST(Text, NothingInAReportSteersTheTerminal) {
  Report report = Read(samples::Simple());
  const std::string evil = "\x1b]0;x\x07\r\xc2\x9b\xe2\x80\xae\xff";
  report.app.id = report.process.path = report.message = evil;
  report.threads[0].name = report.images[0].path = evil;
  report.keys = {{evil, evil}};
  report.breadcrumbs = {{0, evil, evil}};
  report.threads[0].frames[0].symbols[0].function = evil;
  const std::string text = ToText(report);
  for (const char* part : {"\x1b", "\x07", "\r", "\xc2\x9b", "\xe2\x80\xae"}) {
    EXPECT_FALSE(Has(text, part));
  }
  EXPECT_TRUE(Has(text, "\\x1b]0;x\\x07\\x0d\\u{9b}\\u{202e}\xef\xbf\xbd"));
}

TEST(Text, EmptyReportIsText) {
  EXPECT_TRUE(Has(ToText(Report{}), "crash of unknown cause\n"));
}

TEST(Text, DurationsRead) {
  EXPECT_EQ(Duration(250), "250 ms");
  EXPECT_EQ(Duration(61234), "61.2 s");
  EXPECT_EQ(Duration(600000), "10 min 0 s");
  EXPECT_EQ(Duration(7500000), "2 h 5 min");
}

}  // namespace
}  // namespace cairn::report
