// SPDX-License-Identifier: Apache-2.0
#include "capture/image_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace cairn::capture {
namespace {

constexpr uint32_t kCode = kSegmentRead | kSegmentExecute;

Image MakeImage(std::vector<ImageSegment> segments) {
  Image image = {};
  image.address = segments.front().address;
  image.bytes = segments.back().address + segments.back().bytes - image.address;
  for (const auto& segment : segments) {
    image.segments[image.segment_count++] = segment;
  }
  return image;
}

// A table with storage, on the heap since it is large.
struct Table {
  explicit Table(uint32_t capacity)
      : storage(capacity), table(std::make_unique<ImageTable>()) {
    table->Init(storage.data(), capacity);
  }
  ImageTable* operator->() const { return table.get(); }
  std::vector<Image> storage;
  std::unique_ptr<ImageTable> table;
};

TEST(ImageTable, EmptyTableFindsNothing) {
  Table table(0);
  EXPECT_EQ(table->Find(0), kNoImage);
  EXPECT_EQ(table->Find(~uint64_t{0}), kNoImage);
  EXPECT_EQ(table->Append(MakeImage({{0x1000, 0x1000, kCode, 0}})), kNoImage);
  EXPECT_EQ(table->dropped(), 1u);
}

// An image inside the gap of another: lowest and highest address would lie.
TEST(ImageTable, S1_6_SegmentBySegment) {
  for (const bool indexed : {false, true}) {
    Table table(4);
    table->Append(MakeImage(
        {{0x1000, 0x1000, kCode, 0}, {0x9000, 0x1000, kSegmentRead, 0}}));
    table->Append(MakeImage({{0x4000, 0x1000, kCode, 0}}));
    if (indexed) {
      table->Reindex();
    }
    EXPECT_EQ(table->Find(0xfff), kNoImage);
    EXPECT_EQ(table->Find(0x1000), 0u);
    EXPECT_EQ(table->Find(0x1fff), 0u);
    EXPECT_EQ(table->Find(0x2000), kNoImage);
    EXPECT_EQ(table->Find(0x4800), 1u);
    EXPECT_EQ(table->Find(0x5000), kNoImage);
    EXPECT_EQ(table->Find(0x9fff), 0u);
    EXPECT_EQ(table->Find(0xa000), kNoImage);
    EXPECT_TRUE(table->IsExecutable(0x1fff));
    EXPECT_FALSE(table->IsExecutable(0x9000));
    EXPECT_FALSE(table->IsExecutable(0x2000));
  }
}

TEST(ImageTable, UnloadedImageIsFoundOnlyWhereNoLoadedOneIs) {
  Table table(4);
  table->Append(MakeImage({{0x1000, 0x2000, kCode, 0}}));
  table->Reindex();
  table->MarkUnloaded(0);
  EXPECT_EQ(table->Find(0x1000), 0u);
  EXPECT_FALSE(table->IsExecutable(0x1000));
  table->Append(MakeImage({{0x1000, 0x1000, kCode, 0}}));
  EXPECT_EQ(table->Find(0x1000), 1u);
  EXPECT_EQ(table->Find(0x2000), 0u);
  table->Reindex();
  EXPECT_EQ(table->Find(0x1000), 1u);
  EXPECT_EQ(table->Find(0x2000), 0u);
  EXPECT_TRUE(table->IsExecutable(0x1000));
}

TEST(ImageTable, LaterOfTwoOverlappingImagesWins) {
  Table table(4);
  table->Append(MakeImage({{0x1000, 0x4000, kCode, 0}}));
  table->Append(MakeImage({{0x2000, 0x1000, kCode, 0}}));
  table->Reindex();
  EXPECT_EQ(table->Find(0x1800), 0u);
  EXPECT_EQ(table->Find(0x2800), 1u);
  EXPECT_EQ(table->Find(0x3800), 0u);
}

TEST(ImageTable, FullTableCountsWhatItDrops) {
  Table table(2);
  for (uint64_t i = 1; i <= 5; ++i) {
    table->Append(MakeImage({{i << 20, 0x1000, kCode, 0}}));
  }
  EXPECT_EQ(table->count(), 2u);
  EXPECT_EQ(table->dropped(), 3u);
  EXPECT_EQ(table->Find(5 << 20), kNoImage);
}

// Against a plain search over what was put in, beyond the index's size too.
TEST(ImageTable, IndexAgreesWithTheObviousSearch) {
  std::mt19937 random(7);
  for (const uint32_t images : {1u, 2u, 40u, 900u, 2500u}) {
    Table table(images);
    std::vector<uint32_t> order(images);
    for (uint32_t i = 0; i < images; ++i) {
      order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const uint32_t place : order) {
      const uint64_t base = 0x100000 + place * uint64_t{0x8000};
      table->Append(MakeImage({{base, 0x1000, kSegmentRead, 0},
                               {base + 0x2000, 0x3000, kCode, 0}}));
    }
    table->Reindex();
    for (int probe = 0; probe < 2000; ++probe) {
      const uint64_t address = 0xff000 + random() % (0x8000 * images + 0x2000);
      const uint64_t offset = address - 0x100000;
      const uint64_t place = offset / 0x8000;
      const uint64_t inside = offset % 0x8000;
      const bool hit =
          address >= 0x100000 && place < images &&
          (inside < 0x1000 || (inside >= 0x2000 && inside < 0x5000));
      const uint32_t found = table->Find(address);
      ASSERT_EQ(found != kNoImage, hit) << std::hex << address;
      if (hit) {
        ASSERT_EQ(order[found], place);
        ASSERT_EQ(table->IsExecutable(address), inside >= 0x2000);
      }
    }
  }
}

TEST(ImageTable, A6_8_ReadersNeverSeeAHalfBuiltIndex) {
  Table table(600);
  table->Append(MakeImage({{0x1000, 0x1000, kCode, 0}}));
  table->Reindex();
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> wrong = 0;
  std::thread reader([&] {
    while (!stop) {
      wrong += table->Find(0x1800) != 0;
      const uint32_t count = table->count();
      wrong +=
          table->Find((uint64_t{count} << 20) + 8) != count - 1 && count > 1;
    }
  });
  for (uint64_t i = 2; i <= 600; ++i) {
    table->Append(MakeImage({{i << 20, 0x1000, kCode, 0}}));
    table->Reindex();
  }
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace cairn::capture
