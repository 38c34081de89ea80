// SPDX-License-Identifier: Apache-2.0
//
// Files made to hurt: numbers that are none, nesting, tries that explode, lists
// without end. The program's peak of resident memory is bounded over all of
// them.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "report/json.h"
#include "report/reader.h"
#include "report/text.h"
#include "safe/crc32c.h"
#include "samples/sample_file.h"

namespace cairn::report {
namespace {

using format::Field;
using samples::Packed;
using samples::SampleFile;

using Bytes = std::vector<uint8_t>;

// What reading, JSON and text together may take; sanitizers need more.
constexpr long kMemoryLimitKib = CAIRN_MEMORY_LIMIT_MIB * 1024L;

// Of a file without end: the largest that is read, but for sanitizers, which
// keep what was freed and need many times the memory and the time.
constexpr size_t kEndlessBytes = kMaxReportBytes / CAIRN_ENDLESS_DIVISOR;

class Hostile : public testing::Test {
 protected:
  void TearDown() override {
    rusage usage{};
    ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    EXPECT_LT(usage.ru_maxrss, kMemoryLimitKib);
  }

  // A file of the given records, as often as fit `bytes`.
  static Bytes Repeated(const Bytes& records, size_t bytes) {
    SampleFile start(3);
    Bytes file = start.Finish();
    const size_t header = file.size();
    while (file.size() + records.size() <= bytes) {
      file.insert(file.end(), records.begin(), records.end());
    }
    SetCommitted(&file);
    EXPECT_GT(file.size(), header);
    return file;
  }

  static void SetCommitted(Bytes* file) {
    const uint64_t committed = file->size();
    std::memcpy(file->data() + offsetof(format::FileHeader, committed_bytes),
                &committed,
                sizeof(committed));
  }

  static ReadResult Read(const Bytes& file) {
    ReadResult result = ReadReport(file.data(), file.size());
    EXPECT_LE(result.report.problems.size(), 101u);
    return result;
  }
};

TEST_F(Hostile, A5_22_DeepNestingIsCutNotFollowed) {
  // Unknown groups in each other, 4 bytes each.
  const ReadResult result =
      Read(Repeated({0xa0, 0x0f, 7, 0}, kMaxReportBytes / 64));
  EXPECT_EQ(result.status, ReadStatus::kCut);
}

TEST_F(Hostile, BeginsOfListEntriesWithoutEnd) {
  for (const Field field : {Field::kImage,
                            Field::kThread,
                            Field::kKey,
                            Field::kBreadcrumb,
                            Field::kCut,
                            Field::kMemory,
                            Field::kStage}) {
    const uint8_t low = static_cast<uint8_t>(field);
    const ReadResult result = Read(Repeated(
        {low, 0, 7, 0},
        field == Field::kThread ? kEndlessBytes : kMaxReportBytes / 64));
    EXPECT_EQ(result.status, ReadStatus::kCut);
    EXPECT_TRUE(result.report.problems.back().text.find("more problems") !=
                std::string::npos);
  }
}

TEST_F(Hostile, EmptyStringsAndSegmentsWithoutEnd) {
  Bytes arguments = {32, 0, 7, 0};
  for (int i = 0; i < 1000; ++i) {
    arguments.insert(arguments.end(), {36, 0, 4, 0});
  }
  EXPECT_EQ(Read(Repeated(arguments, kEndlessBytes)).status, ReadStatus::kCut);
  Bytes segments = {48, 0, 7, 0, 54, 0, 6, 0xb0, 0xea, 1};  // 30000 bytes
  segments.resize(segments.size() + 30000, 1);
  EXPECT_EQ(Read(Repeated(segments, kEndlessBytes)).status, ReadStatus::kCut);
}

TEST_F(Hostile, VarintsThatAreNoNumbers) {
  const std::vector<Bytes> payloads = {
      {},      // nothing
      {0x80},  // cut
      {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},  // 2^64
      {1, 1}};  // more than the number
  for (const Bytes& payload : payloads) {
    Bytes record = {
        32, 0, 7, 0, 33, 0, 1, static_cast<uint8_t>(payload.size())};
    record.insert(record.end(), payload.begin(), payload.end());
    const ReadResult result = Read(Repeated(record, 512 + record.size() + 1));
    EXPECT_EQ(result.status, ReadStatus::kCut);
    EXPECT_FALSE(result.report.process.pid);
    EXPECT_TRUE(std::any_of(result.report.problems.begin(),
                            result.report.problems.end(),
                            [](const Problem& problem) {
                              return problem.text == "ProcessId is no number";
                            }));
  }
}

TEST_F(Hostile, LengthsThatReachBeyondTheEnd) {
  for (const Bytes& length : std::vector<Bytes>{
           {0x7f},
           {0xff, 0xff, 0xff, 0xff, 0x0f},
           {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
           {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}) {
    Bytes record = {64, 0, 1};
    record.insert(record.end(), length.begin(), length.end());
    EXPECT_EQ(Read(Repeated(record, 512 + record.size())).status,
              ReadStatus::kCut);
  }
}

// One deep path, and thousands of threads that all share it.
TEST_F(Hostile, TrieThatExplodesIsBounded) {
  SampleFile file(4);
  for (int thread = 0; thread < 2000; ++thread) {
    file.Group(Field::kThread, [&] {
      Packed stack;
      if (thread == 0) {
        stack.Add(0);
        for (uint64_t i = 0; i < 20000; ++i) {
          stack.Add(0).Add(i).Add(1 | 1 << 4);
        }
      } else {
        stack.Add(20000);
      }
      file.Pack(Field::kThreadFrames, stack);
    });
  }
  const ReadResult result = Read(file.Finish());
  EXPECT_EQ(result.status, ReadStatus::kCut);
  size_t frames = 0;
  for (const Thread& thread : result.report.threads) {
    EXPECT_LE(thread.frames.size(), 4096u);
    frames += thread.frames.size();
  }
  EXPECT_LE(frames, size_t{2} << 20);
  EXPECT_EQ(result.report.threads[0].frames[0].address, 19999u);
  EXPECT_LT(ToJson(result.report).size(), size_t{200} << 20);
  EXPECT_LT(ToText(result.report).size(), size_t{100} << 20);
}

TEST_F(Hostile, NodesWithoutEndAreBounded) {
  Bytes thread = {144, 0, 7, 0, 152, 0, 6, 0xb1, 0xea, 1, 0};
  thread.resize(thread.size() + 30000, 1);
  EXPECT_EQ(Read(Repeated(thread, kEndlessBytes)).status, ReadStatus::kCut);
}

TEST_F(Hostile, SharedNodeThatIsNotThereIsNamed) {
  SampleFile file(5);
  file.Group(Field::kThread, [&] {
    file.Pack(Field::kThreadFrames,
              samples::Stack(77,
                             {{-1,
                               0x1000,
                               format::FrameTrust::kContext,
                               format::FrameKind::kFault}}));
  });
  const ReadResult result = Read(file.Finish());
  EXPECT_EQ(result.status, ReadStatus::kCut);
  EXPECT_EQ(result.report.threads.at(0).frames.size(), 1u);
}

TEST_F(Hostile, FrameInAnImageThatIsNotThereIsNamed) {
  SampleFile file(6);
  file.Group(Field::kThread, [&] {
    file.Pack(Field::kThreadFrames,
              Packed().Add(0).Add(~uint64_t{0}).Add(5).Add(0x1ff));
  });
  const ReadResult result = Read(file.Finish());
  EXPECT_EQ(result.status, ReadStatus::kCut);
  ASSERT_EQ(result.report.threads.at(0).frames.size(), 1u);
  EXPECT_FALSE(result.report.threads[0].frames[0].image);
}

// A long path in one image, and as many frames as a report may have.
TEST_F(Hostile, RepeatedNamesDoNotFloodTheOutput) {
  SampleFile file(7);
  file.Group(Field::kImage,
             [&] { file.Text(Field::kImagePath, std::string(400000, 'p')); });
  for (int thread = 0; thread < 300; ++thread) {
    file.Group(Field::kThread, [&] {
      Packed stack;
      stack.Add(thread == 0 ? 0 : 4000);
      for (uint64_t i = 0; thread == 0 && i < 4000; ++i) {
        stack.Add(1).Add(i).Add(1 | 1 << 4);
      }
      file.Pack(Field::kThreadFrames, stack);
    });
  }
  const Bytes bytes = file.Finish();
  const ReadResult result = Read(bytes);
  EXPECT_EQ(result.status, ReadStatus::kWhole);
  const std::string json = ToJson(result.report);
  EXPECT_LT(json.size(), size_t{200} << 20);
  EXPECT_NE(json.find("frames are left out"), std::string::npos);
  EXPECT_LT(ToText(result.report).size(), size_t{100} << 20);
}

// One long name for each of a million frames.
TEST_F(Hostile, NamesThatExplodeAreBounded) {
  SampleFile file(8);
  for (int thread = 0; thread < 500; ++thread) {
    file.Group(Field::kThread, [&] {
      Packed stack;
      stack.Add(thread == 0 ? 0 : 4000);
      for (uint64_t i = 0; thread == 0 && i < 4000; ++i) {
        stack.Add(0).Add(i).Add(1 | 1 << 4);
      }
      file.Pack(Field::kThreadFrames, stack);
    });
  }
  file.BeginSection();
  file.Group(Field::kSymbols, [&] {
    file.Group(Field::kSymbol, [&] {
      Packed nodes;
      for (uint64_t i = 1; i <= 4000; ++i) {
        nodes.Add(i);
      }
      file.Pack(Field::kSymbolNodes, nodes);
      file.Group(Field::kSymbolFrame, [&] {
        file.Text(Field::kSymbolFunction, std::string(500000, 'f'));
      });
    });
  });
  const ReadResult result = Read(file.Finish());
  EXPECT_EQ(result.status, ReadStatus::kCut);
  EXPECT_FALSE(result.report.threads[0].frames[0].symbols.empty());
  ToText(result.report);
}

TEST_F(Hostile, NamesForNodesThatAreNotThereAreNamed) {
  SampleFile file(9);
  file.BeginSection();
  file.Group(Field::kSymbols, [&] {
    file.Group(Field::kSymbol, [&] {
      file.Pack(Field::kSymbolNodes, Packed().Add(0).Add(~uint64_t{0}));
    });
  });
  EXPECT_EQ(Read(file.Finish()).status, ReadStatus::kCut);
}

// Not hostile, only large: nothing is cut for its size.
TEST_F(Hostile, A5_2_LargeReportIsReadWhole) {
  Bytes memory = {176, 0, 7, 0, 178, 0, 5, 0x80, 0x80, 0x20};  // 512 KiB
  memory.resize(memory.size() + (512 << 10), 0x11);
  memory.insert(memory.end(), {176, 0, 8, 4, 0, 0, 0, 0});
  const size_t group = memory.size() - 8;
  const uint32_t crc = safe::Crc32c(0, memory.data(), group);
  std::memcpy(memory.data() + group + 4, &crc, sizeof(crc));
  const ReadResult result = Read(Repeated(memory, 32 << 20));
  EXPECT_EQ(result.status, ReadStatus::kWhole);
  EXPECT_EQ(result.report.memory.size(), 63u);
  EXPECT_EQ(result.report.memory.back().bytes.size(), size_t{512} << 10);
  EXPECT_GT(ToJson(result.report).size(), size_t{63} << 20);
}

TEST_F(Hostile, SectionsWithoutEnd) {
  SampleFile file(10);
  for (int i = 0; i < 5000; ++i) {
    file.BeginSection();
  }
  EXPECT_EQ(Read(file.Finish()).status, ReadStatus::kCut);
}

TEST_F(Hostile, RecordsOutOfPlaceAreNamedAndDoNotBreakWhatFollows) {
  SampleFile file(11);
  file.Number(Field::kThreadId, 1);        // in no thread
  file.Group(Field::kThreadStack, [] {});  // neither
  file.Group(Field::kSymbolFrame,
             [&] { file.Text(Field::kSymbolFunction, "nobody"); });
  file.Text(Field::kProcessId, "7");  // wrong kind
  file.Group(Field::kThread, [&] { file.Number(Field::kThreadId, 5); });
  const ReadResult result = Read(file.Finish());
  EXPECT_EQ(result.status, ReadStatus::kCut);
  EXPECT_EQ(result.report.problems.size(), 4u);
  ASSERT_EQ(result.report.threads.size(), 1u);
  EXPECT_EQ(result.report.threads[0].id, 5u);
}

}  // namespace
}  // namespace cairn::report
