// SPDX-License-Identifier: Apache-2.0
//
// Rate limit, tokens, clock, command line, cursors.
#include <gtest/gtest.h>

#include "api.h"
#include "auth.h"
#include "clock.h"
#include "host_check.h"
#include "options.h"
#include "rate_limit.h"

namespace cairn::server {
namespace {

TEST(RateLimit, LetsABurstThroughAndRefills) {
  RateLimit limit(60);
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(limit.Take("a", 1000), 0u);
  }
  EXPECT_EQ(limit.Take("a", 1000), 1u);
  EXPECT_EQ(limit.Take("b", 1000), 0u);
  EXPECT_EQ(limit.Take("a", 1999), 1u);
  EXPECT_EQ(limit.Take("a", 2000), 0u);
  EXPECT_EQ(limit.Take("a", 2000), 1u);
}

TEST(RateLimit, TellsHowLongToWait) {
  RateLimit limit(2);
  limit.Take("a", 0);
  limit.Take("a", 0);
  EXPECT_EQ(limit.Take("a", 0), 30u);
}

TEST(RateLimit, ZeroIsNoLimit) {
  RateLimit limit(0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(limit.Take("a", 0), 0u);
  }
}

TEST(RateLimit, ManySendersDoNotLockOthersOut) {
  RateLimit limit(1);
  for (size_t i = 0; i < RateLimit::kMaxSenders * 2; ++i) {
    EXPECT_EQ(limit.Take(std::to_string(i), 0), 0u);
  }
}

TEST(Auth, Bearer) {
  EXPECT_TRUE(HasBearer("Bearer secret", "secret"));
  EXPECT_TRUE(HasBearer("bearer  secret", "secret"));
  EXPECT_FALSE(HasBearer("Bearer secret2", "secret"));
  EXPECT_FALSE(HasBearer("Bearer secre", "secret"));
  EXPECT_FALSE(HasBearer("Bearersecret", "secret"));
  EXPECT_FALSE(HasBearer("secret", "secret"));
  EXPECT_FALSE(HasBearer("", "secret"));
  EXPECT_FALSE(HasBearer("Bearer ", "secret"));
}

TEST(Auth, Password) {
  // RFC 7617's own example: Aladdin, "open sesame".
  constexpr char header[] = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==";
  EXPECT_TRUE(HasPassword(header, "open sesame"));
  EXPECT_FALSE(HasPassword(header, "open sesam"));
  EXPECT_FALSE(HasPassword("Basic !!!", "open sesame"));
  EXPECT_FALSE(HasPassword("Basic ", "open sesame"));
}

TEST(Clock, WritesRfc3339) {
  EXPECT_EQ(TimeText(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(TimeText(1'709'210'096'789), "2024-02-29T12:34:56.789Z");
  EXPECT_EQ(TimeText(INT64_MAX), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(TimeText(INT64_MIN), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(DayText(19782), "2024-02-29");
}

TEST(Options, Listen) {
  Options options;
  EXPECT_TRUE(ParseListen("127.0.0.1:8080", &options));
  EXPECT_EQ(options.host, "127.0.0.1");
  EXPECT_EQ(options.port, 8080);
  EXPECT_TRUE(ParseListen("[::1]:0", &options));
  EXPECT_EQ(options.host, "::1");
  for (const char* wrong : {"",
                            ":80",
                            "host",
                            "host:",
                            "host:x",
                            "host:65536",
                            "host:-1",
                            "::1:80",
                            "[]:80",
                            "host:8 0"}) {
    EXPECT_FALSE(ParseListen(wrong, &options)) << wrong;
  }
}

TEST(Options, Loopback) {
  EXPECT_TRUE(IsLoopback("127.0.0.1"));
  EXPECT_TRUE(IsLoopback("127.9.9.9"));
  EXPECT_TRUE(IsLoopback("localhost"));
  EXPECT_TRUE(IsLoopback("::1"));
  EXPECT_FALSE(IsLoopback("0.0.0.0"));
  EXPECT_FALSE(IsLoopback("127.example.org"));
  EXPECT_FALSE(IsLoopback("::"));
}

TEST(HostCheck, TakesLoopbackAndTheNamesThatWereGiven) {
  Options options;
  options.host = "127.0.0.1";
  options.allowed_hosts = {"Crashes.Example.org"};
  for (const char* right : {"localhost",
                            "LOCALHOST:8080",
                            "localhost.:8080",
                            "127.0.0.1",
                            "127.0.0.1:8080",
                            "127.3.2.1:1",
                            "[::1]",
                            "[::1]:8080",
                            "crashes.example.org:443",
                            "crashes.example.org."}) {
    EXPECT_TRUE(NamesThisServer(right, options)) << right;
  }
  for (const char* wrong : {"",
                            ":80",
                            ".",
                            "evil.example",
                            "evil.example:8080",
                            "localhost.evil.example",
                            "evil.example:80:localhost",
                            "localhost:80@evil.example",
                            "localhost@evil.example",
                            "127.0.0.1.evil.example",
                            "10.0.0.1",
                            "0.0.0.0",
                            "::1",
                            "[::1",
                            "[::1]evil",
                            "[::2]",
                            "localhost evil",
                            "xcrashes.example.org"}) {
    EXPECT_FALSE(NamesThisServer(wrong, options)) << wrong;
  }
  options.host = "photos.test";
  EXPECT_TRUE(NamesThisServer("photos.test:8080", options));
}

int Parse(std::vector<const char*> arguments) {
  Options options;
  arguments.insert(arguments.begin(), "cairn-server");
  return ParseOptions(static_cast<int>(arguments.size()),
                      const_cast<char**>(arguments.data()),
                      &options);
}

TEST(Options, AnOpenAddressNeedsTokensOrConsent) {
  EXPECT_EQ(Parse({"--listen", "0.0.0.0:0", "--data", "d"}), 2);
  EXPECT_EQ(Parse({"--listen", "0.0.0.0:0", "--data", "d", "--token", "t"}), 2);
  EXPECT_EQ(Parse({"--listen",
                   "0.0.0.0:0",
                   "--data",
                   "d",
                   "--token",
                   "t",
                   "--read-token",
                   "r"}),
            -1);
  EXPECT_EQ(Parse({"--listen", "0.0.0.0:0", "--data", "d", "--open"}), -1);
  EXPECT_EQ(Parse({"--listen", "127.0.0.1:0", "--data", "d"}), -1);
  EXPECT_EQ(Parse({"--listen", "127.0.0.1:0"}), 2);
}

TEST(Cursor, ComesBackAsItWasGiven) {
  Cursor cursor;
  EXPECT_TRUE(ParseIssueCursor("1234-5", &cursor));
  EXPECT_EQ(cursor.time_ms, 1234);
  EXPECT_EQ(cursor.id, 5);
  for (const char* wrong : {"1",
                            "-",
                            "1-",
                            "-1",
                            "1-2-3",
                            "a-b",
                            "1--2",
                            "99999999999999999999-1"}) {
    Cursor other;
    EXPECT_FALSE(ParseIssueCursor(wrong, &other)) << wrong;
  }
  EXPECT_TRUE(ParseReportCursor("7", &cursor));
  EXPECT_FALSE(ParseReportCursor("7x", &cursor));
}

TEST(Json, MendsBadUtf8) {
  EXPECT_EQ(ErrorJson("a\xff\"b", "c"),
            "{\"error\":\"a\xEF\xBF\xBD\\\"b\",\"remedy\":\"c\"}");
}

}  // namespace
}  // namespace cairn::server
