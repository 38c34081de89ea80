// SPDX-License-Identifier: Apache-2.0
#include "gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace cairn::server {
namespace {

std::string Pack(const std::string& plain, int window_bits = 15 + 16) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, plain.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Text() {
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += std::to_string(i * 7919);
  }
  return text;
}

TEST(Inflate, GivesBackWhatWasPacked) {
  std::string out;
  EXPECT_EQ(Inflate(Pack(Text()), Text().size(), &out), InflateStatus::kOk);
  EXPECT_EQ(out, Text());
  EXPECT_EQ(Inflate(Pack(""), 0, &out), InflateStatus::kOk);
  EXPECT_EQ(out, "");
}

TEST(Inflate, StopsOneByteOverTheLimit) {
  std::string out;
  EXPECT_EQ(Inflate(Pack(Text()), Text().size() - 1, &out),
            InflateStatus::kTooLarge);
  EXPECT_EQ(out, "");
  EXPECT_EQ(Inflate(Pack("x"), 0, &out), InflateStatus::kTooLarge);
}

TEST(Inflate, EveryCutIsTruncated) {
  std::string packed = Pack("a report, or something like one");
  std::string out;
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_EQ(Inflate(packed.substr(0, size), 1000, &out),
              InflateStatus::kTruncated)
        << size;
    EXPECT_EQ(out, "");
  }
}

TEST(Inflate, RefusesWhatIsNoGzip) {
  std::string out;
  EXPECT_EQ(Inflate("CAIRN\r\n\x1a plain", 1000, &out), InflateStatus::kBroken);
  // The zlib wrapper and the raw stream are other formats.
  EXPECT_EQ(Inflate(Pack(Text(), 15), 1 << 20, &out), InflateStatus::kBroken);
}

TEST(Inflate, RefusesAWrongChecksumAndBytesBehindTheEnd) {
  std::string out;
  std::string packed = Pack(Text());
  packed[packed.size() - 8] ^= 1;
  EXPECT_EQ(Inflate(packed, 1 << 20, &out), InflateStatus::kBroken);
  EXPECT_EQ(Inflate(Pack(Text()) + "x", 1 << 20, &out), InflateStatus::kBroken);
}

}  // namespace
}  // namespace cairn::server
