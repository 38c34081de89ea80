// SPDX-License-Identifier: Apache-2.0
#include "safe/crc32c.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace cairn::safe {
namespace {

// Known answers: RFC 3720 appendix B.4.
TEST(Crc32c, KnownAnswers) {
  std::vector<uint8_t> zeros(32, 0), ones(32, 0xff), rising(32);
  for (size_t i = 0; i < rising.size(); ++i) {
    rising[i] = static_cast<uint8_t>(i);
  }
  EXPECT_EQ(Crc32c(0, zeros.data(), 32), 0x8a9136aau);
  EXPECT_EQ(Crc32c(0, ones.data(), 32), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(0, rising.data(), 32), 0x46dd794eu);
  EXPECT_EQ(Crc32c(0, "123456789", 9), 0xe3069283u);
}

TEST(Crc32c, InPiecesIsTheSame) {
  const char* text = "a cairn is a stack of stones";
  const size_t bytes = std::strlen(text);
  for (size_t cut = 0; cut <= bytes; ++cut) {
    EXPECT_EQ(Crc32c(Crc32c(0, text, cut), text + cut, bytes - cut),
              Crc32c(0, text, bytes));
  }
}

}  // namespace
}  // namespace cairn::safe
