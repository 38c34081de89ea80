// SPDX-License-Identifier: Apache-2.0
//
// The checked-in samples: written once, read by every later version.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "report/reader.h"
#include "samples/sample_file.h"
#include "samples/samples.h"

namespace cairn::report {
namespace {

std::vector<uint8_t> FileBytes(const std::string& name) {
  std::ifstream file(CAIRN_SOURCE_DIR "/tests/samples/" + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Samples, WriterStillMakesTheSameBytes) {
  EXPECT_EQ(FileBytes("simple.cairn"), samples::Simple());
  EXPECT_EQ(FileBytes("rich.cairn"), samples::Rich());
}

TEST(Samples, SimpleIsReadWhole) {
  const ReadResult result =
      ReadReportFile(CAIRN_SOURCE_DIR "/tests/samples/simple.cairn");
  ASSERT_EQ(result.status, ReadStatus::kWhole) << result.error;
  const Report& report = result.report;
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(UuidText(report.uuid), "01122334-4556-4778-899a-abbccddeef00");
  EXPECT_EQ(report.app.id, "org.example.shop");
  EXPECT_EQ(report.app.environment, "production");
  EXPECT_EQ(report.process.pid, 4711u);
  EXPECT_EQ(report.process.args,
            (std::vector<std::string>{"shop", "--port=8080"}));
  EXPECT_EQ(report.process.uptime_ms, 61000u);
  EXPECT_EQ(report.host.memory_bytes, uint64_t{16} << 30);
  ASSERT_TRUE(report.signal);
  EXPECT_EQ(report.signal->number, 11u);
  EXPECT_EQ(report.signal->code, 1);
  EXPECT_EQ(report.signal->fault_address, 0u);
  EXPECT_EQ(report.signal->fault_kind, format::FaultKind::kNullPage);
  ASSERT_EQ(report.images.size(), 4u);
  EXPECT_EQ(report.images[0].path, "/opt/shop/bin/shop");
  EXPECT_EQ(report.images[0].id.size(), 20u);
  ASSERT_EQ(report.images[0].segments.size(), 3u);
  EXPECT_EQ(report.images[0].segments[1].flags, 5u);
}

TEST(Samples, SimpleHasItsStacks) {
  const Report report =
      ReadReportFile(CAIRN_SOURCE_DIR "/tests/samples/simple.cairn").report;
  ASSERT_EQ(report.threads.size(), 3u);
  const Thread& crashed = report.threads[0];
  EXPECT_TRUE(crashed.crashed);
  EXPECT_EQ(crashed.stack.size(), 64u);
  EXPECT_EQ(crashed.stack_high, 0x7ffffffff000u);
  ASSERT_EQ(crashed.frames.size(), 5u);
  EXPECT_EQ(crashed.frames[0].address, 0x555555555149u);
  EXPECT_EQ(crashed.frames[0].kind, format::FrameKind::kFault);
  EXPECT_EQ(crashed.frames[0].trust, format::FrameTrust::kContext);
  EXPECT_EQ(crashed.frames[0].symbols.at(0).function, "crash_here(int*)");
  EXPECT_EQ(crashed.frames[1].symbols.at(0).line, 31u);
  EXPECT_EQ(crashed.frames[4].symbols.at(0).function, "_start");
  EXPECT_EQ(crashed.frames[4].address, 0x555555555061u);

  const Thread& second = report.threads[1];
  const Thread& third = report.threads[2];
  ASSERT_EQ(third.frames.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(second.frames[i].address, third.frames[i].address);
    EXPECT_EQ(second.frames[i].node, third.frames[i].node);
  }
  EXPECT_EQ(third.frames[1].symbols.at(0).function, "shop::Worker::Run()");
}

TEST(Samples, SimpleHasEachThreadsRegisters) {
  const Report report =
      ReadReportFile(CAIRN_SOURCE_DIR "/tests/samples/simple.cairn").report;
  using Registers = std::vector<std::pair<uint32_t, uint64_t>>;
  EXPECT_EQ(report.threads[0].registers.size(), 12u);
  EXPECT_EQ(
      report.threads[1].registers,
      (Registers{
          {0, 0xfffffffffffffe00}, {7, 0x7ffff7bfed10}, {16, 0x7ffff7c8ae13}}));
  EXPECT_EQ(
      report.threads[2].registers,
      (Registers{
          {0, 0xfffffffffffffe00}, {7, 0x7ffff73fdd10}, {16, 0x7ffff7c8ae13}}));
}

TEST(Samples, RichOfALaterVersionIsReadWhole) {
  const ReadResult result =
      ReadReportFile(CAIRN_SOURCE_DIR "/tests/samples/rich.cairn");
  ASSERT_EQ(result.status, ReadStatus::kWhole);
  const Report& report = result.report;
  EXPECT_EQ(report.format_version, 2u);
  EXPECT_EQ(report.app.version, "2.0.0-beta");
  EXPECT_EQ(report.process.pid, 901u);  // the child that crashed
  EXPECT_EQ(report.process.args.at(1), "Caf\xef\xbf\xbd.ogg");
  ASSERT_TRUE(report.exception);
  EXPECT_EQ(report.exception->type_mangled, "N6player11DecodeErrorE");
  EXPECT_TRUE(report.images.at(3).unloaded);
  ASSERT_EQ(report.threads.size(), 41u);
  EXPECT_EQ(report.threads[0].frames.size(), 8u);
  EXPECT_EQ(report.threads[0].gap_position, 5u);
  EXPECT_EQ(report.threads[0].gap_frames, 120u);
  // clone3, start_thread, then the pool's own.
  EXPECT_EQ(report.threads[1].frames.size(), 6u);
  EXPECT_EQ(report.threads[40].frames.size(), 6u);
  EXPECT_EQ(report.threads[11].frames.front().address, 0x7f12ffff0010u);
  EXPECT_FALSE(report.threads[11].frames.front().image);
  EXPECT_EQ(report.keys.size(), 2u);
  EXPECT_EQ(report.breadcrumbs.size(), 3u);
  EXPECT_EQ(report.memory.at(0).bytes.size(), 8u);
  EXPECT_EQ(report.cuts.size(), 2u);
  EXPECT_EQ(report.stages.at(0).done, 2u);
  EXPECT_EQ(report.symbol_status.at(0).second, "missing");
}

TEST(Samples, RichHasAnInlinedCall) {
  const Report report =
      ReadReportFile(CAIRN_SOURCE_DIR "/tests/samples/rich.cairn").report;
  const Frame& frame = report.threads[0].frames.at(3);
  ASSERT_EQ(frame.symbols.size(), 2u);
  EXPECT_TRUE(frame.symbols[0].inlined);
  EXPECT_EQ(frame.symbols[0].function, "player::Bits::Next()");
  EXPECT_FALSE(frame.symbols[1].inlined);
}

// The crashed thread is written in steps, each a group with its id.
TEST(Steps, LaterGroupOfTheFirstThreadAddsToIt) {
  using format::Field;
  samples::SampleFile file(1);
  std::vector<uint64_t> previous;
  const auto begin = [&](uint64_t id) { file.Number(Field::kThreadId, id); };
  file.Group(Field::kThread, [&] {
    begin(7);
    file.Number(Field::kThreadCrashed, 1);
    file.Pack(Field::kThreadRegisters,
              samples::Registers({{16, 0x1000}}, &previous));
  });
  file.Group(Field::kThread, [&] {
    begin(7);
    file.Pack(Field::kThreadFrames,
              samples::Packed().Add(0).Add(0).Add(1).Add(0));
    file.Number(Field::kThreadWalkEnd, 1);
  });
  file.Group(Field::kThread, [&] {
    begin(8);
    file.Pack(Field::kThreadFrames,
              samples::Packed().Add(0).Add(0).Add(2).Add(0));
  });
  file.Group(Field::kThread, [&] {
    begin(7);
    file.Group(Field::kThreadStack, [&] {
      file.Address(Field::kThreadStackAddress, 0x2000);
      file.Bytes(Field::kThreadStackBytes, {1, 2, 3});
    });
  });
  const std::vector<uint8_t> bytes = file.Finish();
  const ReadResult result = ReadReport(bytes.data(), bytes.size());
  ASSERT_EQ(result.status, ReadStatus::kWhole);
  ASSERT_EQ(result.report.threads.size(), 2u);
  const Thread& crashed = result.report.threads[0];
  EXPECT_TRUE(crashed.crashed);
  EXPECT_EQ(crashed.registers.size(), 1u);
  ASSERT_EQ(crashed.frames.size(), 1u);
  EXPECT_EQ(crashed.frames[0].address, 1u);
  EXPECT_EQ(crashed.end, format::WalkEnd::kNoRule);
  EXPECT_EQ(crashed.stack.size(), 3u);
  EXPECT_EQ(result.report.threads[1].frames.at(0).address, 2u);
}

// Threads that tell no id stay apart.
TEST(Steps, ThreadsWithoutAnIdStayApart) {
  samples::SampleFile file(1);
  file.Group(format::Field::kThread, [] {});
  file.Group(format::Field::kThread, [] {});
  const std::vector<uint8_t> bytes = file.Finish();
  EXPECT_EQ(ReadReport(bytes.data(), bytes.size()).report.threads.size(), 2u);
}

}  // namespace
}  // namespace cairn::report
