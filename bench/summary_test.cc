// SPDX-License-Identifier: Apache-2.0
#include "bench/summary.h"

#include <gtest/gtest.h>

namespace cairn::bench {
namespace {

TEST(Summary, MedianIsTheMiddle_OddNumber) {
  const Summary summary = Summarize({9, 1, 5});
  EXPECT_EQ(summary.median, 5);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 9);
}

TEST(Summary, MedianIsTheMeanOfTheMiddleTwo_EvenNumber) {
  EXPECT_EQ(Summarize({4, 100, 1, 2}).median, 3);
}

TEST(Summary, IsZero_NoSamples) {
  EXPECT_EQ(Summarize({}).max, 0);
}

TEST(Summary, LessTakesTheBaseFromEach) {
  EXPECT_EQ(Less({3, 5}, 4), (std::vector<double>{-1, 1}));
}

TEST(Digits, KeepsThreeThatMatter) {
  EXPECT_EQ(Digits(0.41234), "0.412");
  EXPECT_EQ(Digits(7.412), "7.41");
  EXPECT_EQ(Digits(76.04), "76.0");
}

TEST(Digits, GroupsThousands) {
  EXPECT_EQ(Digits(1160), "1,160");
  EXPECT_EQ(Digits(-1234567), "-1,234,567");
  EXPECT_EQ(Digits(999), "999");
}

}  // namespace
}  // namespace cairn::bench
