// SPDX-License-Identifier: Apache-2.0
#include "safe/process_memory_linux.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "safe/guarded_memory.h"

namespace cairn::safe {
namespace {

// Two pages, the second one unreadable.
class GuardPage : public testing::Test {
 protected:
  void SetUp() override {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    base_ = static_cast<char*>(mmap(nullptr,
                                    2 * page_,
                                    PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS,
                                    -1,
                                    0));
    ASSERT_NE(base_, MAP_FAILED);
    std::memset(base_, 'x', page_);
    ASSERT_EQ(mprotect(base_ + page_, page_, PROT_NONE), 0);
  }
  void TearDown() override { munmap(base_, 2 * page_); }

  size_t page_ = 0;
  char* base_ = nullptr;
};

using ProcessMemory = GuardPage;

// S1.3: every foreign read is a checked copy.
TEST_F(ProcessMemory, S1_3_ReadStopsAtTheGuardPage) {
  int32_t pid = getpid();
  const MemoryReader reader = ProcessReader(&pid);
  char out[64] = {};
  const auto address = reinterpret_cast<uint64_t>(base_ + page_ - 10);
  EXPECT_TRUE(reader.Read(address, out, 10));
  EXPECT_EQ(out[9], 'x');
  EXPECT_FALSE(reader.Read(address, out, 11));
  EXPECT_EQ(reader.ReadSome(address, out, 64), 10u);
  EXPECT_EQ(reader.ReadSome(reinterpret_cast<uint64_t>(base_ + page_), out, 8),
            0u);
}

TEST_F(ProcessMemory, SizesThatWrapAreRefused) {
  int32_t pid = getpid();
  const MemoryReader reader = ProcessReader(&pid);
  char out[64] = {};
  EXPECT_FALSE(reader.Read(~uint64_t{0} - 3, out, 16));
  EXPECT_EQ(reader.ReadSome(~uint64_t{0} - 3, out, 16), 0u);
}

TEST_F(ProcessMemory, GuardedReaderReadsWhatIsThere) {
  char out[16] = {};
  EXPECT_TRUE(GuardedReader().Read(reinterpret_cast<uint64_t>(base_), out, 16));
  EXPECT_EQ(out[15], 'x');
}

}  // namespace
}  // namespace cairn::safe
