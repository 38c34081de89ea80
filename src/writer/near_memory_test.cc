// SPDX-License-Identifier: Apache-2.0
//
// Which bytes near the registers are kept, as the shipped reader shows them.
#include "writer/near_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "capture/fake_memory.h"
#include "report/reader.h"
#include "samples/sample_file.h"

namespace cairn::writer {
namespace {

constexpr int kRax = 0, kRdx = 1, kRcx = 2, kRsp = 7, kRip = 16, kRflags = 17,
              kFsBase = 20;
constexpr uint64_t kPage = 0x7f0000001000;

std::vector<uint8_t> Counting(size_t bytes) {
  std::vector<uint8_t> out(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    out[i] = static_cast<uint8_t>(i ^ i >> 8);
  }
  return out;
}

class NearMemoryTest : public testing::Test {
 protected:
  NearMemoryTest() {
    registers_.architecture = format::Architecture::kX86_64;
    page_ = Counting(4096);
    memory_.Put(kPage, page_);
  }

  std::vector<report::Memory> Written() {
    samples::SampleFile file(1);
    near_.registers = &registers_;
    const size_t count =
        PutNearMemory(&file.records(), near_, memory_.reader(), &kept_);
    const std::vector<uint8_t> bytes = file.Finish();
    report::ReadResult result = report::ReadReport(bytes.data(), bytes.size());
    EXPECT_EQ(result.status, report::ReadStatus::kWhole);
    EXPECT_EQ(result.report.memory.size(), count);
    return std::move(result.report.memory);
  }

  std::vector<uint8_t> PageBytes(size_t from, size_t count) const {
    return {page_.begin() + static_cast<ptrdiff_t>(from),
            page_.begin() + static_cast<ptrdiff_t>(from + count)};
  }

  capture::Registers registers_{};
  NearMemory near_{};
  uint64_t kept_ = 0;
  std::vector<uint8_t> page_;
  capture::FakeMemory memory_;
};

TEST_F(NearMemoryTest, WindowIsAlignedAndBeginsBeforeTheAddress) {
  registers_.Set(kRcx, kPage + 0x105);
  const auto memory = Written();
  ASSERT_EQ(memory.size(), 1u);
  EXPECT_EQ(memory[0].reason, "rcx");
  EXPECT_EQ(memory[0].address, kPage + 0xe0);
  EXPECT_EQ(memory[0].bytes, PageBytes(0xe0, 128));
}

TEST_F(NearMemoryTest, FaultComesFirstAndWhatIsShownIsNotShownAgain) {
  near_.has_fault_address = true;
  near_.fault_address = kPage + 0x200;
  registers_.Set(kRax, kPage + 0x21f);
  registers_.Set(kRdx, kPage + 0x800);
  registers_.Set(kRip, kPage + 0x400);
  const auto memory = Written();
  ASSERT_EQ(memory.size(), 3u);
  EXPECT_EQ(memory[0].reason, "fault");
  EXPECT_EQ(memory[1].reason, "rdx");
  EXPECT_EQ(memory[2].reason, "rip");
}

TEST_F(NearMemoryTest, SmallNumbersStackFlagsAndSegmentBasesAreLeftOut) {
  registers_.Set(kRax, 4095);
  registers_.Set(kRdx, kPage + 0x300);
  registers_.Set(kRsp, kPage + 0x600);
  registers_.Set(kRflags, kPage + 0x700);
  registers_.Set(kFsBase, kPage + 0x800);
  near_.told = {kPage + 0x2ff, kPage + 0x301};
  EXPECT_TRUE(Written().empty());
}

TEST_F(NearMemoryTest, PageThatIsNotThereCutsTheWindow) {
  registers_.Set(kRax, kPage + 8);       // nothing before
  registers_.Set(kRdx, kPage + 0xff8);   // nothing behind
  registers_.Set(kRcx, kPage + 0x1000);  // not readable itself
  const auto memory = Written();
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[0].address, kPage);
  EXPECT_EQ(memory[0].bytes, PageBytes(0, 96));
  EXPECT_EQ(memory[1].address, kPage + 0xfd0);
  EXPECT_EQ(memory[1].bytes, PageBytes(0xfd0, 0x30));
}

TEST_F(NearMemoryTest, AddressesAtTheEndsOfMemory) {
  registers_.Set(kRax, ~uint64_t{0});
  registers_.Set(kRdx, 0x8000000000000000);
  registers_.Set(kRcx, 4096);
  EXPECT_TRUE(Written().empty());
}

TEST_F(NearMemoryTest, ReportWithoutRoomKeepsWhatItHas) {
  registers_.Set(kRax, kPage + 0x100);
  registers_.Set(kRdx, kPage + 0x800);
  std::vector<uint8_t> buffer(220);
  RecordWriter records(buffer.data(), 0, buffer.size(), nullptr);
  near_.registers = &registers_;
  EXPECT_EQ(PutNearMemory(&records, near_, memory_.reader(), &kept_), 1u);
  EXPECT_EQ(kept_, 128u);
  EXPECT_LE(records.position(), buffer.size());
}

// An architecture whose registers have other names and places.
TEST_F(NearMemoryTest, Arm64Registers) {
  registers_.architecture = format::Architecture::kArm64;
  registers_.Set(0, kPage + 0x100);   // x0
  registers_.Set(31, kPage + 0x300);  // sp
  registers_.Set(32, kPage + 0x500);  // pc
  registers_.Set(33, kPage + 0x700);  // pstate
  const auto memory = Written();
  ASSERT_EQ(memory.size(), 2u);
  EXPECT_EQ(memory[0].reason, "x0");
  EXPECT_EQ(memory[1].reason, "pc");
}

}  // namespace
}  // namespace cairn::writer
