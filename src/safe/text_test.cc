// SPDX-License-Identifier: Apache-2.0
#include "safe/text.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn::safe {
namespace {

TEST(Text, BuildsAndNeverPassesItsCapacity) {
  Text<16> text;
  text.Add("/proc/").AddNumber(4711).Add("/task/");
  EXPECT_STREQ(text.c_str(), "/proc/4711/task");
  EXPECT_EQ(text.length(), 15u);
}

TEST(Text, NumbersOfEveryLength) {
  for (uint64_t value :
       {uint64_t{0}, uint64_t{7}, uint64_t{10}, ~uint64_t{0}}) {
    Text<24> text;
    EXPECT_EQ(text.AddNumber(value).c_str(), std::to_string(value));
  }
}

TEST(Text, ParsesWhatTheKernelPrints) {
  const std::string line = "7fff1200-7fff2000";
  size_t position = 0;
  EXPECT_EQ(ParseHex(line.data(), line.size(), &position), 0x7fff1200u);
  ++position;
  EXPECT_EQ(ParseHex(line.data(), line.size(), &position), 0x7fff2000u);
  position = 0;
  EXPECT_EQ(ParseNumber("123x", 4, &position), 123u);
  EXPECT_EQ(position, 3u);
}

}  // namespace
}  // namespace cairn::safe
