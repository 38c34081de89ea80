// SPDX-License-Identifier: Apache-2.0
#include "upload/retry_after.h"

#include <gtest/gtest.h>

namespace cairn::upload {
namespace {

constexpr int64_t kNow = 784111777;  // Sun, 06 Nov 1994 08:49:37 GMT

TEST(RetryAfter, Seconds) {
  EXPECT_EQ(ParseRetryAfter("120", kNow), 120);
  EXPECT_EQ(ParseRetryAfter("  7 \r\n", kNow), 7);
  EXPECT_EQ(ParseRetryAfter("0", kNow), 0);
}

TEST(RetryAfter, Date) {
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:50:37 GMT", kNow), 60);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:36 GMT", kNow), 0);
  EXPECT_EQ(ParseRetryAfter("Thu, 29 Feb 1996 00:00:00 GMT", kNow),
            kMaxRetryAfterSeconds);
}

TEST(RetryAfter, A8_6_CappedAtADay) {
  EXPECT_EQ(ParseRetryAfter("86401", kNow), 86400);
  EXPECT_EQ(ParseRetryAfter("99999999999999999999999999", kNow), 86400);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 2094 08:49:37 GMT", kNow), 86400);
}

TEST(RetryAfter, A8_6_NonsenseIsNoWait) {
  for (const char* value : {"",
                            "-1",
                            "+5",
                            "1.5",
                            "5s",
                            "0x10",
                            "soon",
                            "Sun, 06 Nov 1994",
                            "Sun, 31 Feb 1995 08:50:37 GMT",
                            "Sun, 06 Nov 1994 25:50:37 GMT",
                            "Sun, 06 Nov 1994 08:50:37 PST",
                            "Sun, 06 Xxx 1994 08:50:37 GMT"}) {
    EXPECT_EQ(ParseRetryAfter(value, kNow), 0) << value;
  }
}

}  // namespace
}  // namespace cairn::upload
