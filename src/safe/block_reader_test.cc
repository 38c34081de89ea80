// SPDX-License-Identifier: Apache-2.0
#include "safe/block_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace cairn::safe {
namespace {

// A page of bytes at an address, and how often it was read.
struct Page {
  static constexpr uint64_t kAddress = 0x10000;
  std::vector<uint8_t> bytes = std::vector<uint8_t>(4096);
  int reads = 0;

  Page() {
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(i * 7 + i / 256);
    }
  }
  MemoryReader reader() {
    return {[](void* context, uint64_t address, void* out, size_t count) {
              auto* page = static_cast<Page*>(context);
              ++page->reads;
              if (address < kAddress || address >= kAddress + 4096) {
                return size_t{0};
              }
              count = std::min<size_t>(count, kAddress + 4096 - address);
              std::memcpy(
                  out, page->bytes.data() + (address - kAddress), count);
              return count;
            },
            this};
  }
};

TEST(BlockReader, SmallReadsSideBySideAreOne) {
  Page page;
  BlockReader blocks(page.reader());
  const MemoryReader reader = blocks.reader();
  for (uint64_t i = 0; i < 512; i += 8) {
    uint64_t value = 0, expected = 0;
    ASSERT_TRUE(reader.ReadValue(Page::kAddress + i, &value));
    std::memcpy(&expected, page.bytes.data() + i, 8);
    EXPECT_EQ(value, expected);
  }
  EXPECT_EQ(page.reads, 1);
}

TEST(BlockReader, ReadAcrossBlocksIsWhole) {
  Page page;
  BlockReader blocks(page.reader());
  std::vector<uint8_t> out(4000);
  ASSERT_TRUE(blocks.reader().Read(Page::kAddress + 50, out.data(), 4000));
  EXPECT_EQ(std::memcmp(out.data(), page.bytes.data() + 50, 4000), 0);
}

TEST(BlockReader, EndsWhereMemoryEnds) {
  Page page;
  BlockReader blocks(page.reader());
  uint8_t out[100];
  EXPECT_EQ(blocks.reader().ReadSome(Page::kAddress + 4090, out, 100), 6u);
  EXPECT_EQ(blocks.reader().ReadSome(Page::kAddress - 8, out, 100), 0u);
  EXPECT_EQ(blocks.reader().ReadSome(Page::kAddress + 4096, out, 1), 0u);
  EXPECT_EQ(blocks.reader().ReadSome(~uint64_t{0} - 3, out, 100), 0u);
}

TEST(BlockReader, MoreBlocksThanAreKeptAreReadAgain) {
  Page page;
  BlockReader blocks(page.reader());
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 4096; i += BlockReader::kBlockBytes) {
      uint8_t value = 0;
      ASSERT_TRUE(blocks.reader().ReadValue(Page::kAddress + i + 3, &value));
      EXPECT_EQ(value, page.bytes[i + 3]);
    }
  }
  EXPECT_EQ(page.reads, 16);
}

}  // namespace
}  // namespace cairn::safe
