// SPDX-License-Identifier: Apache-2.0
#include "report/append.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "report/reader.h"
#include "samples/sample_file.h"
#include "samples/samples.h"

namespace cairn::report {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

class Append : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cairn_append_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    path_ = directory_ + "/a.cairn";
  }
  void TearDown() override { fs::remove_all(directory_); }

  // The rich sample without its names, `rest` bytes of a slot's rest behind.
  void PutWithoutNames(size_t rest) {
    bytes_ = samples::Rich();
    format::FileHeader header;
    std::memcpy(&header, bytes_.data(), sizeof(header));
    bytes_.resize(static_cast<size_t>(header.committed_bytes));
    Bytes slot = bytes_;
    slot.resize(slot.size() + rest, 0x5a);
    Put(slot);
  }
  void Put(const Bytes& bytes) {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  Bytes OnDisk() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string directory_, path_;
  Bytes bytes_;
};

bool SameNames(const Report& left, const Report& right) {
  for (size_t i = 0; i < left.threads.size(); ++i) {
    for (size_t j = 0; j < left.threads[i].frames.size(); ++j) {
      const auto& a = left.threads[i].frames[j].symbols;
      const auto& b = right.threads[i].frames[j].symbols;
      if (a.size() != b.size()) {
        return false;
      }
      for (size_t k = 0; k < a.size(); ++k) {
        if (a[k].function != b[k].function || a[k].offset != b[k].offset ||
            a[k].function_mangled != b[k].function_mangled ||
            a[k].file != b[k].file || a[k].line != b[k].line ||
            a[k].column != b[k].column || a[k].inlined != b[k].inlined ||
            a[k].name_sure != b[k].name_sure) {
          return false;
        }
      }
    }
  }
  return left.symbol_status == right.symbol_status;
}

TEST_F(Append, NamesComeBackAsTheyWere) {
  const Bytes rich = samples::Rich();
  Report named = ReadReport(rich.data(), rich.size()).report;
  named.threads[0].frames[0].symbols[0].name_sure = false;
  PutWithoutNames(0);
  EXPECT_FALSE(ReadReportFile(path_).report.has_symbols);
  ASSERT_EQ(AppendSection(path_, SymbolsPayload(named)), "");
  const ReadResult read = ReadReportFile(path_);
  EXPECT_EQ(read.status, ReadStatus::kWhole);
  EXPECT_TRUE(read.report.has_symbols);
  EXPECT_TRUE(SameNames(read.report, named));
}

TEST_F(Append, CrashTimeBytesStayAndASlotsRestGoes) {
  PutWithoutNames(5000);
  ASSERT_EQ(AppendSection(path_, {}), "");
  const Bytes now = OnDisk();
  ASSERT_EQ(now.size(), bytes_.size() + sizeof(format::SectionHeader));
  EXPECT_TRUE(std::equal(bytes_.begin(), bytes_.end(), now.begin()));
  EXPECT_EQ(ReadReportFile(path_).status, ReadStatus::kWhole);
}

TEST_F(Append, LaterNamesWin) {
  const Bytes rich = samples::Rich();
  Report named = ReadReport(rich.data(), rich.size()).report;
  Put(rich);
  named.threads[0].frames[0].symbols[0].function = "better";
  ASSERT_EQ(AppendSection(path_, SymbolsPayload(named)), "");
  const Report read = ReadReportFile(path_).report;
  EXPECT_EQ(read.threads[0].frames[0].symbols.at(0).function, "better");
  EXPECT_EQ(read.threads[0].frames[1].symbols.at(0).function, "abort");
}

// Every way an earlier append may have been cut off: read as not whole, and
// cured by the next one.
TEST_F(Append, HalfWrittenSectionIsSkippedAndReplaced) {
  const Bytes rich = samples::Rich();
  PutWithoutNames(0);
  const Report named = ReadReport(rich.data(), rich.size()).report;
  for (size_t size = bytes_.size() + 1; size < rich.size(); size += 37) {
    Put(Bytes(rich.begin(), rich.begin() + static_cast<ptrdiff_t>(size)));
    EXPECT_EQ(ReadReportFile(path_).status, ReadStatus::kCut) << size;
    ASSERT_EQ(AppendSection(path_, SymbolsPayload(named)), "") << size;
    const ReadResult read = ReadReportFile(path_);
    EXPECT_EQ(read.status, ReadStatus::kWhole) << size;
    EXPECT_TRUE(SameNames(read.report, named)) << size;
  }
}

TEST_F(Append, RefusesWhatIsNoFinishedReport) {
  EXPECT_NE(AppendSection(directory_ + "/missing", {}), "");
  Put({1, 2, 3});
  EXPECT_NE(AppendSection(path_, {}), "");
  samples::SampleFile armed(1);
  armed.header().state = static_cast<uint32_t>(format::SlotState::kArmed);
  Put(armed.Finish());
  EXPECT_NE(AppendSection(path_, {}), "");
  Bytes cut = samples::Simple();
  cut.resize(900);
  Put(cut);
  EXPECT_NE(AppendSection(path_, {}), "");
  EXPECT_EQ(OnDisk(), cut);
}

TEST_F(Append, FollowsNoSymbolicLink) {
  PutWithoutNames(0);
  const std::string link = directory_ + "/link.cairn";
  fs::create_symlink(path_, link);
  EXPECT_NE(AppendSection(link, {}), "");
  EXPECT_EQ(OnDisk(), bytes_);
}

// A file-size limit stands for a full disk: the write fails half way.
TEST_F(Append, FullDiskLeavesTheReportWhole) {
  PutWithoutNames(0);
  const auto append_in_little_room = [&] {
    const rlim_t limit = bytes_.size() + 10;
    const rlimit size{limit, limit};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &size);
    _exit(AppendSection(path_, Bytes(1000, 7)).empty() ? 1 : 0);
  };
  EXPECT_EXIT(append_in_little_room(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(OnDisk(), bytes_);
  EXPECT_EQ(ReadReportFile(path_).status, ReadStatus::kWhole);
}

}  // namespace
}  // namespace cairn::report
