// SPDX-License-Identifier: Apache-2.0
//
// Every cut and every flipped byte of both samples: never a crash, what is
// whole stays, and what is damaged is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "report/json.h"
#include "report/reader.h"
#include "report/text.h"
#include "samples/sample_file.h"
#include "samples/samples.h"

namespace cairn::report {
namespace {

using Bytes = std::vector<uint8_t>;

// Every byte; under a sanitizer, many times slower, every so many.
constexpr size_t kStride = CAIRN_DAMAGE_STRIDE;

ReadResult Read(const Bytes& bytes) {
  // A copy of exact size, so that AddressSanitizer sees a read behind the end.
  const Bytes exact(bytes);
  return ReadReport(exact.data(), exact.size());
}

format::FileHeader HeaderOf(const Bytes& bytes) {
  format::FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header;
}

class Damage : public testing::TestWithParam<int> {
 protected:
  const Bytes whole_ = GetParam() == 0   ? samples::Simple()
                       : GetParam() == 1 ? samples::Rich()
                                         : samples::RichOfToday();
  const size_t committed_ =
      static_cast<size_t>(HeaderOf(whole_).committed_bytes);
};

INSTANTIATE_TEST_SUITE_P(Samples, Damage, testing::Values(0, 1, 2));

TEST_P(Damage, A5_4_A5_21_EveryCutIsReadUpToTheCut) {
  const Report full = Read(whole_).report;
  size_t threads = 0;
  for (size_t size = 0; size < whole_.size(); size += kStride) {
    const ReadResult cut = Read(Bytes(whole_.begin(), whole_.begin() + size));
    if (size < sizeof(format::FileHeader)) {
      EXPECT_EQ(cut.status, ReadStatus::kNotAReport) << size;
      EXPECT_FALSE(cut.error.empty());
      continue;
    }
    // A report without its appended names is whole again.
    const bool is_whole = size == committed_;
    EXPECT_EQ(cut.status, is_whole ? ReadStatus::kWhole : ReadStatus::kCut)
        << size;
    EXPECT_EQ(cut.report.complete, is_whole) << size;
    EXPECT_EQ(cut.report.problems.empty(), is_whole) << size;
    EXPECT_EQ(cut.report.uuid, full.uuid);
    // What was whole at a shorter cut is there at this one.
    EXPECT_GE(cut.report.threads.size(), threads) << size;
    threads = cut.report.threads.size();
    EXPECT_FALSE(ToJson(cut.report).empty());
    EXPECT_FALSE(ToText(cut.report).empty());
  }
  EXPECT_EQ(threads, full.threads.size());
}

// Where the rich sample has the only record that stands in no group, and so
// under no checksum: kImageUnloaded of earlier writers. 0: nowhere.
size_t LooseRecord(const Bytes& file) {
  const Bytes record = {64, 0, 1, 1, 3};
  const auto at =
      std::search(file.begin(), file.end(), record.begin(), record.end());
  return at == file.end() ? 0 : static_cast<size_t>(at - file.begin());
}

// A flipped byte is noticed, or changes nothing of what the report says: the
// header's identities and its part that changes at the crash have no checksum.
TEST_P(Damage, A5_5_EveryFlippedByteIsNoticedOrHarmless) {
  const std::string full = ToJson(Read(whole_).report);
  const size_t loose = LooseRecord(whole_);
  EXPECT_EQ(loose != 0, GetParam() == 1);
  for (size_t offset = 0; offset < whole_.size(); offset += kStride) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      Bytes flipped = whole_;
      flipped[offset] = static_cast<uint8_t>(flipped[offset] ^ mask);
      const ReadResult result = Read(flipped);
      const bool has_checksum =
          offset >= sizeof(format::FileHeader) ||
          offset < offsetof(format::FileHeader, installer);
      const bool is_loose = loose != 0 && offset >= loose && offset < loose + 5;
      if (!is_loose && (has_checksum || ToJson(result.report) != full)) {
        EXPECT_NE(result.status, ReadStatus::kWhole)
            << "byte " << offset << " ^ " << mask;
      }
      if (result.status == ReadStatus::kCut) {
        EXPECT_FALSE(result.report.problems.empty()) << offset;
      }
      if (result.status == ReadStatus::kCut && mask == 0xff) {
        ToJson(result.report);
        ToText(result.report);
      }
      ReportLength(flipped.data(), flipped.size());
    }
  }
}

// Not one image is called unloaded by a group whose checksum is wrong.
TEST(DamageOfUnloaded, ADamagedGroupMarksNothing) {
  Bytes bytes = samples::RichOfToday();
  const Bytes record = {66, 0, 1, 1, 3};
  const auto at =
      std::search(bytes.begin(), bytes.end(), record.begin(), record.end());
  ASSERT_NE(at, bytes.end());
  EXPECT_TRUE(Read(bytes).report.images.at(3).unloaded);
  at[4] = 2;
  const ReadResult result = Read(bytes);
  EXPECT_EQ(result.status, ReadStatus::kCut);
  for (const Image& image : result.report.images) {
    EXPECT_FALSE(image.unloaded);
  }
}

TEST(DamageOfUnloaded, EarlierWritersLooseRecordIsRead) {
  samples::SampleFile file(5);
  for (const uint64_t address : {0x1000, 0x2000}) {
    file.Group(format::Field::kImage, [&] {
      file.Number(format::Field::kImageBytes, 4096);
      file.Text(format::Field::kImagePath, std::to_string(address));
    });
  }
  file.Number(format::Field::kImageUnloaded, 1);
  const Report report = Read(file.Finish()).report;
  EXPECT_FALSE(report.images.at(0).unloaded);
  EXPECT_TRUE(report.images.at(1).unloaded);
}

// One damaged byte costs no more than the group it is in.
TEST_P(Damage, OtherThreadsSurviveADamagedOne) {
  const Report full = Read(whole_).report;
  const std::string name = full.threads[1].name;
  const auto at =
      std::search(whole_.begin(), whole_.end(), name.begin(), name.end());
  ASSERT_NE(at, whole_.end());
  Bytes flipped = whole_;
  flipped[static_cast<size_t>(at - whole_.begin())] ^= 1;
  const ReadResult result = Read(flipped);
  EXPECT_EQ(result.status, ReadStatus::kCut);
  ASSERT_EQ(result.report.threads.size(), full.threads.size());
  for (size_t i = 0; i < full.threads.size(); ++i) {
    EXPECT_EQ(result.report.threads[i].frames.size(),
              full.threads[i].frames.size());
  }
  EXPECT_EQ(result.report.threads[0].frames[0].address,
            full.threads[0].frames[0].address);
}

TEST_P(Damage, ASlotsUnusedRestIsNoDamage) {
  for (const int fill : {0x00, 0xa5, 0x43}) {
    Bytes slot(whole_.begin(),
               whole_.begin() + static_cast<ptrdiff_t>(committed_));
    slot.resize(committed_ + 4096, static_cast<uint8_t>(fill));
    EXPECT_EQ(Read(slot).status, ReadStatus::kWhole) << fill;
    EXPECT_EQ(ReportLength(slot.data(), slot.size()), committed_);
  }
}

TEST_P(Damage, LengthHasTheSectionsButNotWhatIsBehindThem) {
  Bytes longer = whole_;
  EXPECT_EQ(ReportLength(longer.data(), longer.size()), whole_.size());
  longer.resize(longer.size() + 1000);
  EXPECT_EQ(ReportLength(longer.data(), longer.size()), whole_.size());
  // A section that was not finished does not belong to the report.
  EXPECT_EQ(ReportLength(whole_.data(), whole_.size() - 1), committed_);
}

TEST_P(Damage, ZerosInsteadOfRecordsAreNamed) {
  Bytes holed = whole_;
  std::fill(holed.begin() + static_cast<ptrdiff_t>(committed_ - 400),
            holed.begin() + static_cast<ptrdiff_t>(committed_),
            0);
  const ReadResult result = Read(holed);
  EXPECT_EQ(result.status, ReadStatus::kCut);
  EXPECT_FALSE(result.report.threads.empty());
  EXPECT_TRUE(result.report.has_symbols) << "sections are found all the same";
}

TEST(DamageOfHeaders, ALengthBeyondTheFileIsACut) {
  Bytes bytes = samples::Simple();
  format::FileHeader header = HeaderOf(bytes);
  for (const uint64_t committed :
       {uint64_t{1} << 40, ~uint64_t{0}, uint64_t{1} << 63}) {
    header.committed_bytes = committed;
    std::memcpy(bytes.data(), &header, sizeof(header));
    const ReadResult result = Read(bytes);
    EXPECT_EQ(result.status, ReadStatus::kCut);
    EXPECT_EQ(result.report.threads.size(), 3u);
    EXPECT_EQ(ReportLength(bytes.data(), bytes.size()), bytes.size());
  }
}

TEST(DamageOfHeaders, AnUnfinishedReportIsReadAndNamed) {
  Bytes bytes = samples::Simple();
  format::FileHeader header = HeaderOf(bytes);
  header.state = static_cast<uint32_t>(format::SlotState::kClaimed);
  std::memcpy(bytes.data(), &header, sizeof(header));
  const ReadResult result = Read(bytes);
  EXPECT_EQ(result.status, ReadStatus::kCut);
  EXPECT_FALSE(result.report.complete);
  ASSERT_EQ(result.report.problems.size(), 1u);
  EXPECT_EQ(result.report.threads.size(), 3u);
}

TEST(DamageOfHeaders, OtherFilesAreNoReports) {
  EXPECT_EQ(Read({}).status, ReadStatus::kNotAReport);
  EXPECT_EQ(Read(Bytes(4096, 0)).status, ReadStatus::kNotAReport);
  EXPECT_EQ(ReportLength(nullptr, 0), std::nullopt);
  EXPECT_EQ(ReadReportFile("/dev/null").status, ReadStatus::kCannotOpen);
  EXPECT_EQ(ReadReportFile("/").status, ReadStatus::kCannotOpen);
  EXPECT_EQ(ReadReportFile("/no/such/file").status, ReadStatus::kCannotOpen);
}

}  // namespace
}  // namespace cairn::report
