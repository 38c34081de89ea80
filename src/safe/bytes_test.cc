// SPDX-License-Identifier: Apache-2.0
#include "safe/bytes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace cairn::safe {
namespace {

std::vector<uint8_t> Ramp(size_t bytes) {
  std::vector<uint8_t> data(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<uint8_t>(i * 7 + 1);
  }
  return data;
}

TEST(Bytes, CopyOfEveryShortLengthAndOffset) {
  const auto from = Ramp(64);
  for (size_t bytes = 0; bytes < 40; ++bytes) {
    for (size_t offset = 0; offset < 9; ++offset) {
      std::vector<uint8_t> to(64, 0xee), expected(64, 0xee);
      cairn_safe_memcpy(to.data() + offset, from.data() + 3, bytes);
      std::memcpy(expected.data() + offset, from.data() + 3, bytes);
      ASSERT_EQ(to, expected) << bytes << " at " << offset;
    }
  }
}

TEST(Bytes, MoveOverlappingInBothDirections) {
  for (int shift = -12; shift <= 12; ++shift) {
    auto ours = Ramp(64), theirs = Ramp(64);
    cairn_safe_memmove(ours.data() + 16 + shift, ours.data() + 16, 30);
    std::memmove(theirs.data() + 16 + shift, theirs.data() + 16, 30);
    ASSERT_EQ(ours, theirs) << shift;
  }
}

TEST(Bytes, FillAndCompare) {
  std::vector<uint8_t> data(21, 1);
  cairn_safe_memset(data.data() + 1, 0xabcd, 19);
  EXPECT_EQ(data[0], 1);
  EXPECT_EQ(data[1], 0xcd);
  EXPECT_EQ(data[19], 0xcd);
  EXPECT_EQ(data[20], 1);
  EXPECT_EQ(cairn_safe_memcmp("abc", "abd", 2), 0);
  EXPECT_LT(cairn_safe_memcmp("abc", "abd", 3), 0);
  EXPECT_GT(cairn_safe_memcmp("\xff", "a", 1), 0);
}

TEST(Bytes, LengthStopsAtTheLimit) {
  EXPECT_EQ(Length("four", 99), 4u);
  EXPECT_EQ(Length("four", 2), 2u);
}

}  // namespace
}  // namespace cairn::safe
