// SPDX-License-Identifier: Apache-2.0
//
// PUT against a real server over loopback: what each answer is given for.
#include <gtest/gtest.h>

#include "server_process.h"

namespace cairn::server {
namespace {

const httplib::Headers kGzip = {{"Content-Encoding", "gzip"}};

class Put : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(Put, NewThenSameThenOtherBytes) {
  ServerProcess server(folder_.path());
  std::string report = SampleReport("simple", 1);
  EXPECT_EQ(server.Put(PathOf(report), Gzip(report), kGzip).status, 201);
  EXPECT_EQ(server.Put(PathOf(report), Gzip(report), kGzip).status, 200);
  EXPECT_EQ(server.Put(PathOf(report), report).status, 200);
  EXPECT_EQ(server.Put(PathOf(report), report + "x").status, 409);
  EXPECT_EQ(server.Get(PathOf(report) + "/raw").body, report);
}

TEST_F(Put, IdentityIsNamedOrNot) {
  ServerProcess server(folder_.path());
  std::string one = SampleReport("rich", 1);
  std::string two = SampleReport("rich", 2);
  EXPECT_EQ(
      server.Put(PathOf(one), one, {{"Content-Encoding", "identity"}}).status,
      201);
  EXPECT_EQ(server.Put(PathOf(two), two).status, 201);
  EXPECT_EQ(server.Put(PathOf(two), two, {{"Content-Encoding", "br"}}).status,
            415);
}

TEST_F(Put, RefusesWhatIsNoReport) {
  ServerProcess server(folder_.path());
  std::string report = SampleReport("simple", 1);
  std::string other = SampleReport("simple", 2);
  EXPECT_EQ(server.Put(PathOf(report), "hello").status, 400);
  EXPECT_EQ(server.Put(PathOf(report), "").status, 400);
  EXPECT_EQ(server.Put(PathOf(report), other).status, 400);
  EXPECT_EQ(server.Put("/api/v1/reports/1234", report).status, 400);
  EXPECT_EQ(server.Put("/api/v1/reports/", report).status, 400);
  EXPECT_EQ(server.Put("/api/v1/reports/../../x", report).status, 400);
  EXPECT_EQ(server.Put("/api/v1/other", report).status, 404);
  EXPECT_EQ(server.Get(PathOf(report)).status, 404);
}

TEST_F(Put, TruncatedGzipIsRefusedWhereverItEnds) {
  ServerProcess server(folder_.path(), {"--reports-per-minute", "0"});
  std::string report = SampleReport("simple", 1);
  std::string packed = Gzip(report);
  for (size_t cut : {size_t{1},
                     size_t{8},
                     packed.size() / 2,
                     packed.size() - 8,
                     packed.size() - 1}) {
    auto answer = server.Put(PathOf(report), packed.substr(0, cut), kGzip);
    EXPECT_EQ(answer.status, 400) << cut;
    EXPECT_NE(answer.body.find("\"remedy\""), std::string::npos);
  }
  EXPECT_EQ(server.Put(PathOf(report), packed + "x", kGzip).status, 400);
  EXPECT_EQ(server.Get(PathOf(report)).status, 404);
  EXPECT_EQ(server.Put(PathOf(report), packed, kGzip).status, 201);
}

TEST_F(Put, ABodyThatStopsShortKeepsNothing) {
  ServerProcess server(folder_.path());
  std::string report = SampleReport("simple", 1);
  std::string head = "PUT " + PathOf(report) +
                     " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                     std::to_string(report.size()) + "\r\n\r\n";
  server.Raw(head + report.substr(0, report.size() - 1), true);
  EXPECT_EQ(server.Get(PathOf(report)).status, 404);
  EXPECT_EQ(server.Put(PathOf(report), report).status, 201);
}

TEST_F(Put, AGzipBombIsStoppedWithLittleMemory) {
  ServerProcess server(folder_.path(), {"--max-report-bytes", "4194304"});
  std::string report = SampleReport("simple", 1);
  std::string bomb = Gzip(report + std::string(192u << 20, '\0'));
  ASSERT_LT(bomb.size(), 2u << 20);
  uint64_t before = server.PeakMemoryBytes();
  EXPECT_EQ(server.Put(PathOf(report), bomb, kGzip).status, 413);
  // The body, its copy, and twice the limit; a server that inflated it all
  // would have taken all of it.
  EXPECT_LT(server.PeakMemoryBytes(), before + (32u << 20));
  EXPECT_EQ(server.Get(PathOf(report)).status, 404);
}

TEST_F(Put, A8_14_LimitsAreExactAndNamed) {
  std::string report = SampleReport("simple", 1);
  std::string size = std::to_string(report.size());
  std::string less = std::to_string(report.size() - 1);
  {
    ServerProcess server(folder_.path(), {"--max-report-bytes", less});
    EXPECT_EQ(server.Put(PathOf(report), report).status, 413);
    auto answer = server.Put(PathOf(report), Gzip(report), kGzip);
    EXPECT_EQ(answer.status, 413);
    EXPECT_NE(answer.body.find("--max-report-bytes"), std::string::npos);
  }
  {
    ServerProcess server(folder_.path(), {"--max-body-bytes", less});
    EXPECT_EQ(server.Put(PathOf(report), report).status, 413);
    EXPECT_EQ(server.Put(PathOf(report), Gzip(report), kGzip).status, 201);
  }
  ServerProcess server(folder_.path(),
                       {"--max-body-bytes", size, "--max-report-bytes", size});
  EXPECT_EQ(server.Put(PathOf(report), report).status, 200);
}

TEST_F(Put, ALargeBodyIsRefusedAndTheAnswerArrives) {
  ServerProcess server(folder_.path(), {"--max-body-bytes", "1000"});
  std::string report = SampleReport("simple", 1);
  EXPECT_EQ(
      server.Put(PathOf(report), report + std::string(8u << 20, 'x')).status,
      413);
  EXPECT_LT(server.PeakMemoryBytes(), 64u << 20);
}

TEST_F(Put, ChunkedBodiesAreLimitedToo) {
  ServerProcess server(folder_.path(), {"--max-body-bytes", "1000"});
  std::string request = "PUT " + PathOf(SampleReport("simple", 1)) +
                        " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                        "chunked\r\n\r\n";
  for (int i = 0; i < 100; ++i) {
    request += "100\r\n" + std::string(256, 'x') + "\r\n";
  }
  std::string answer = server.Raw(request + "0\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 413")) << answer;
}

TEST_F(Put, NeedsTheToken) {
  ServerProcess server(folder_.path(), {"--token", "secret"});
  std::string report = SampleReport("simple", 1);
  EXPECT_EQ(server.Put(PathOf(report), report).status, 401);
  for (const char* wrong : {"Bearer secre",
                            "Bearer secret2",
                            "secret",
                            "Basic c2VjcmV0",
                            "Bearer "}) {
    EXPECT_EQ(
        server.Put(PathOf(report), report, {{"Authorization", wrong}}).status,
        401)
        << wrong;
  }
  EXPECT_EQ(
      server.Put(PathOf(report), report, {{"Authorization", "Bearer secret"}})
          .status,
      201);
}

TEST_F(Put, TheTokenComesFromTheEnvironmentToo) {
  setenv("CAIRN_SERVER_TOKEN", "secret", 1);
  ServerProcess server(folder_.path());
  unsetenv("CAIRN_SERVER_TOKEN");
  std::string report = SampleReport("simple", 1);
  EXPECT_EQ(server.Put(PathOf(report), report).status, 401);
}

TEST_F(Put, A8_8_OverTheRateIsToldWhenToComeBack) {
  ServerProcess server(folder_.path(), {"--reports-per-minute", "2"});
  std::string report = SampleReport("simple", 1);
  EXPECT_EQ(server.Put(PathOf(report), report).status, 201);
  EXPECT_EQ(server.Put(PathOf(report), report).status, 200);
  auto answer = server.Put(PathOf(report), report);
  EXPECT_EQ(answer.status, 429);
  int wait_s = std::atoi(answer.get_header_value("Retry-After").c_str());
  EXPECT_GE(wait_s, 1);
  EXPECT_LE(wait_s, 60);
}

TEST_F(Put, WhatARefusedRequestSentIsNoNextRequest) {
  ServerProcess server(folder_.path(), {"--token", "secret"});
  std::string inner = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  std::string answer = server.Raw(
      "PUT /api/v1/reports/x HTTP/1.1\r\nHost: x\r\n"
      "Content-Length: 0\r\n\r\n" +
      inner);
  EXPECT_EQ(answer.find("HTTP/1.1"), answer.rfind("HTTP/1.1"));
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
}

}  // namespace
}  // namespace cairn::server
