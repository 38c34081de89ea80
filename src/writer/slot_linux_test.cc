// SPDX-License-Identifier: Apache-2.0
//
// Slots as files: what the kernel says of them (stat, fcntl, mincore), and what
// the reader makes of them.
#include "writer/slot.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>
#include <vector>

#include "report/read_file.h"
#include "report/reader.h"
#include "writer/record_writer.h"

namespace cairn::writer {
namespace {

constexpr size_t kFirst = 64 << 10;
constexpr size_t kSecond = 1 << 20;

struct stat StatOf(const std::string& path) {
  struct stat facts = {};
  stat(path.c_str(), &facts);
  return facts;
}

// Device and inode as statx tells them, which is how slots are known again.
SlotDirectory DirectoryOf(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat facts = {};
  fstat(fd, &facts);
  return {fd,
          uint64_t{major(facts.st_dev)} << 32 | minor(facts.st_dev),
          facts.st_ino,
          path.c_str()};
}

class SlotTest : public testing::Test {
 protected:
  SlotTest() {
    std::string text = testing::TempDir() + "cairn-slot-XXXXXX";
    path_ = mkdtemp(text.data());
    spec_.directory = DirectoryOf(path_);
    spec_.first_bytes = kFirst;
    spec_.second_bytes = kSecond;
    spec_.installer.pid = static_cast<uint32_t>(getpid());
  }
  ~SlotTest() override {
    close(spec_.directory.fd);
    std::filesystem::remove_all(path_);
  }
  std::string FileOf(const Slot& slot, const char* suffix) const {
    return path_ + "/" + slot.name + suffix;
  }
  size_t FileCount() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(path_), {}));
  }
  Slot Made() {
    Slot slot;
    EXPECT_EQ(MakeSlot(spec_, &slot), 0);
    return slot;
  }

  std::string path_;
  SlotSpec spec_ = {};
};

TEST_F(SlotTest, MakeGivesAPrivateFileWithRealBlocksAndASparseRest) {
  Slot slot = Made();
  EXPECT_TRUE(std::regex_match(
      slot.name,
      std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                 "[0-9a-f]{12}")))
      << slot.name;
  const struct stat facts = StatOf(FileOf(slot, ".slot"));
  EXPECT_EQ(facts.st_mode, static_cast<mode_t>(S_IFREG | 0600));
  EXPECT_EQ(facts.st_size, static_cast<off_t>(kFirst + kSecond));
  EXPECT_GE(facts.st_blocks * 512, static_cast<off_t>(kFirst));
  EXPECT_LT(facts.st_blocks * 512, static_cast<off_t>(kSecond));
  EXPECT_NE(fcntl(slot.fd, F_GETFD) & FD_CLOEXEC, 0);
  // Faulted in: no page of what is written first waits for the crash.
  std::vector<unsigned char> resident(kReadyBytes / 4096);
  ASSERT_EQ(mincore(slot.header, kReadyBytes, resident.data()), 0);
  for (const unsigned char page : resident) {
    EXPECT_EQ(page & 1, 1);
  }
  RemoveSlot(&slot, spec_.directory);
}

TEST_F(SlotTest, MadeSlotIsEmptyForReadersUntilItIsClaimed) {
  Slot slot = Made();
  const std::string file = FileOf(slot, ".slot");
  EXPECT_EQ(report::ReadReportFile(file).status, report::ReadStatus::kEmpty);
  ASSERT_TRUE(ClaimSlot(&slot, spec_.installer));
  const report::ReadResult result = report::ReadReportFile(file);
  EXPECT_EQ(result.status, report::ReadStatus::kCut);  // never finished
  EXPECT_EQ(report::UuidText(result.report.uuid), slot.name);
  EXPECT_EQ(result.report.installer.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(result.report.owner.pid, static_cast<uint32_t>(getpid()));
  RemoveSlot(&slot, spec_.directory);
}

TEST_F(SlotTest, FileSizeLimitIsAnAnswerNotASignal) {
  std::signal(SIGXFSZ, SIG_DFL);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = kFirst - 1;
  setrlimit(RLIMIT_FSIZE, &small);
  Slot slot;
  EXPECT_EQ(MakeSlot(spec_, &slot), EFBIG);
  EXPECT_EQ(slot.header, nullptr);
  EXPECT_EQ(FileCount(), 0u);
  // Room for the first part only: there is no second.
  small.rlim_cur = kFirst + 4096;
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_EQ(MakeSlot(spec_, &slot), 0);
  EXPECT_EQ(slot.total_bytes, kFirst);
  EXPECT_EQ(slot.header->second_part_bytes, 0u);
  EXPECT_EQ(StatOf(FileOf(slot, ".slot")).st_size, static_cast<off_t>(kFirst));
  setrlimit(RLIMIT_FSIZE, &before);
  RemoveSlot(&slot, spec_.directory);
}

TEST_F(SlotTest, MissingDirectoryIsAnErrno) {
  SlotSpec spec = spec_;
  const std::string missing = path_ + "/missing";
  spec.directory = {-1, 0, 0, missing.c_str()};
  Slot slot;
  EXPECT_EQ(MakeSlot(spec, &slot), ENOENT);
  EXPECT_EQ(slot.fd, -1);
}

// The app has closed every descriptor and opened others under their numbers.
TEST_F(SlotTest, ReusedDescriptorsAreNotTouched) {
  Slot slot = Made();
  const std::string elsewhere = path_ + "/elsewhere";
  std::filesystem::create_directory(elsewhere);
  const std::string precious = elsewhere + "/precious";
  std::ofstream(precious) << "kept";
  const int other_directory = open(elsewhere.c_str(), O_RDONLY | O_DIRECTORY);
  dup2(other_directory, spec_.directory.fd);
  const int other_file = open(precious.c_str(), O_RDWR);
  dup2(other_file, slot.fd);

  ASSERT_TRUE(FinishSlot(&slot, spec_.directory, 0));
  EXPECT_EQ(StatOf(precious).st_size, 4);
  EXPECT_EQ(StatOf(FileOf(slot, ".cairn")).st_size,
            static_cast<off_t>(sizeof(format::FileHeader)));
  Slot second = Made();
  EXPECT_TRUE(std::filesystem::exists(FileOf(second, ".slot")));
  RemoveSlot(&second, spec_.directory);
  EXPECT_FALSE(std::filesystem::exists(FileOf(second, ".slot")));
  RemoveSlot(&slot, spec_.directory);
  // Still the app's own.
  EXPECT_NE(fcntl(other_file, F_GETFD), -1);
  EXPECT_EQ(StatOf(precious).st_size, 4);
  for (const int fd : {other_directory, other_file}) {
    close(fd);
  }
}

TEST_F(SlotTest, OneOfManyThreadsClaims) {
  Slot slot = Made();
  std::atomic<int> ready = 0, winners = 0;
  std::vector<std::thread> threads;
  for (uint32_t i = 1; i <= 16; ++i) {
    threads.emplace_back([&, i] {
      format::ProcessIdentity owner = {};
      owner.pid = i;
      owner.start_ticks = 1000 + i;
      ++ready;
      while (ready < 16) {
      }
      winners += ClaimSlot(&slot, owner) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(slot.header->owner.start_ticks, 1000 + slot.header->owner.pid);
  EXPECT_EQ(slot.header->state,
            static_cast<uint32_t>(format::SlotState::kClaimed));
  RemoveSlot(&slot, spec_.directory);
}

TEST_F(SlotTest, ChildsClaimIsSeenByItsParent) {
  Slot slot = Made();
  const pid_t child = fork();
  if (child == 0) {
    format::ProcessIdentity owner = {};
    owner.pid = static_cast<uint32_t>(getpid());
    _exit(ClaimSlot(&slot, owner) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(ClaimSlot(&slot, spec_.installer));
  EXPECT_EQ(slot.header->owner.pid, static_cast<uint32_t>(child));
  RemoveSlot(&slot, spec_.directory);
}

TEST_F(SlotTest, NoSlotIsNotClaimed) {
  Slot none = {};
  EXPECT_FALSE(ClaimSlot(&none, spec_.installer));
}

TEST_F(SlotTest, FinishCutsNamesAndSeals) {
  Slot slot = Made();
  ASSERT_TRUE(ClaimSlot(&slot, spec_.installer));
  RecordWriter records(reinterpret_cast<uint8_t*>(slot.header),
                       sizeof(format::FileHeader),
                       kFirst,
                       &slot.header->committed_bytes);
  {
    ScopedGroup group(&records, format::Field::kApp);
    records.PutString(format::Field::kAppId, "org.example", 11);
  }
  records.Commit();
  ASSERT_TRUE(FinishSlot(&slot, spec_.directory, 64));
  EXPECT_FALSE(std::filesystem::exists(FileOf(slot, ".slot")));
  const std::string file = FileOf(slot, ".cairn");
  EXPECT_EQ(StatOf(file).st_size, static_cast<off_t>(records.position() + 64));
  const report::ReadResult result = report::ReadReportFile(file);
  EXPECT_EQ(result.status, report::ReadStatus::kWhole) << result.error;
  EXPECT_EQ(result.report.app.id, "org.example");
  EXPECT_EQ(result.report.state, format::SlotState::kSealed);
}

TEST_F(SlotTest, FinishWithoutItsDirectoryLeavesTheSlotReadable) {
  Slot slot = Made();
  const std::string moved = path_ + "-moved";
  std::filesystem::rename(path_, moved);
  close(spec_.directory.fd);  // nothing leads there any more
  EXPECT_FALSE(FinishSlot(&slot, spec_.directory, 0));
  const report::ReadResult result =
      report::ReadReportFile(moved + "/" + slot.name + ".slot");
  EXPECT_EQ(result.report.state, format::SlotState::kSealed);
  std::filesystem::remove_all(moved);
}

TEST_F(SlotTest, RemoveLeavesNothing) {
  Slot slot = Made();
  const Slot before = slot;
  RemoveSlot(&slot, spec_.directory);
  EXPECT_EQ(FileCount(), 0u);
  EXPECT_EQ(fcntl(before.fd, F_GETFD), -1);
  unsigned char resident = 0;
  EXPECT_EQ(mincore(before.header, 4096, &resident), -1);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(slot.header, nullptr);
}

TEST_F(SlotTest, SecondPartGetsBlocksWhereAskedAndNowhereElse) {
  Slot slot = Made();
  const blkcnt_t before = StatOf(FileOf(slot, ".slot")).st_blocks;
  EXPECT_TRUE(PopulateSecondPart(slot, kFirst, kFirst + 65536));
  const blkcnt_t after = StatOf(FileOf(slot, ".slot")).st_blocks;
  EXPECT_GE(after - before, 65536 / 512);
  EXPECT_LT(after * 512, static_cast<off_t>(kSecond));
  EXPECT_FALSE(PopulateSecondPart(slot, kFirst, slot.total_bytes + 1));
  EXPECT_FALSE(PopulateSecondPart(slot, kFirst, kFirst));
  RemoveSlot(&slot, spec_.directory);
}

TEST_F(SlotTest, LockStandsAsLongAsTheSlotIsMapped) {
  Slot slot = Made();
  const int other = open(FileOf(slot, ".slot").c_str(), O_RDWR);
  const auto is_free = [other] {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    return fcntl(other, F_OFD_SETLK, &lock) == 0;
  };
  EXPECT_FALSE(is_free());
  close(slot.fd);  // as a program does that closes every descriptor
  slot.fd = -1;
  EXPECT_FALSE(is_free());
  RemoveSlot(&slot, spec_.directory);
  EXPECT_TRUE(is_free());
  close(other);
}

TEST(Uuid, IsOfVersionFourAndNeverTheSame) {
  uint8_t one[16], other[16];
  MakeUuid(one);
  MakeUuid(other);
  EXPECT_NE(std::vector<uint8_t>(one, one + 16),
            std::vector<uint8_t>(other, other + 16));
  for (const uint8_t* uuid : {one, other}) {
    EXPECT_EQ(uuid[6] >> 4, 4);
    EXPECT_EQ(uuid[8] >> 6, 2);
  }
}

// The example of RFC 9562, appendix A.3.
TEST(Uuid, IsWrittenAsTheSpecificationWritesIt) {
  const uint8_t bytes[16] = {0x91,
                             0x91,
                             0x08,
                             0xf7,
                             0x52,
                             0xd1,
                             0x43,
                             0x20,
                             0x9b,
                             0xac,
                             0xf8,
                             0x47,
                             0xdb,
                             0x41,
                             0x48,
                             0xa8};
  char text[37];
  UuidText(bytes, text);
  EXPECT_STREQ(text, "919108f7-52d1-4320-9bac-f847db4148a8");
}

}  // namespace
}  // namespace cairn::writer
