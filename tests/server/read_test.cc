// SPDX-License-Identifier: Apache-2.0
//
// What is read from a real server: lists, one report, pages, who may read.
#include <gtest/gtest.h>

#include "format/report_format.h"
#include "server_process.h"

namespace cairn::server {
namespace {

class Read : public testing::Test {
 protected:
  // Puts and waits until it is decoded.
  static void Add(const ServerProcess& server, const std::string& report) {
    ASSERT_EQ(server.Put(PathOf(report), report).status, 201);
    ASSERT_NE(server.Get(PathOf(report)).body.find("\"issue\":"),
              std::string::npos);
  }
  static bool Has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  // The value of a string member, at its first place.
  static std::string Member(const std::string& json, const std::string& name) {
    size_t at = json.find("\"" + name + "\":\"");
    if (at == std::string::npos) {
      return "";
    }
    at += name.size() + 4;
    return json.substr(at, json.find('"', at) - at);
  }
  // To one who may read. A server that was built without the viewer has no
  // pages.
  static int AllowedStatus(const std::string& path) {
    const bool page = path == "/" || path == "/reports";
    return page && CAIRN_HAS_VIEWER == 0 ? 404 : 200;
  }
  TemporaryFolder folder_;
};

TEST_F(Read, AReportIsItsJsonAndWhatTheServerKnows) {
  ServerProcess server(folder_.path());
  std::string report = SampleReport("simple", 1);
  Add(server, report);
  auto answer = server.Get(PathOf(report));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.get_header_value("Content-Type"), "application/json");
  EXPECT_TRUE(Has(answer.body, "\"function\":\"crash_here(int*)\""));
  EXPECT_TRUE(Has(answer.body, "\"signature\":\"crash_here | main\""));
  EXPECT_TRUE(Has(answer.body, "\"bytes\":" + std::to_string(report.size())));
  EXPECT_TRUE(Has(answer.body, "\"state\":\"decoded\""));
}

TEST_F(Read, ReportsOfOneCauseAreOneIssue) {
  ServerProcess server(folder_.path());
  Add(server, SampleReport("simple", 1));
  Add(server, SampleReport("simple", 2));
  Add(server, SampleReport("rich", 3));
  std::string issues = server.Get("/api/v1/issues").body;
  EXPECT_TRUE(Has(issues, "\"issues\":2,\"reports\":3,\"waiting\":0"));
  EXPECT_TRUE(Has(server.Get("/api/v1/issues/1").body, "\"count\":2"));
  EXPECT_EQ(server.Get("/api/v1/issues/3").status, 404);
  EXPECT_EQ(server.Get("/api/v1/issues/x").status, 404);
  std::string reports = server.Get("/api/v1/reports?issue=1").body;
  EXPECT_TRUE(Has(reports, UuidOf(SampleReport("simple", 1))));
  EXPECT_FALSE(Has(reports, UuidOf(SampleReport("rich", 3))));
}

TEST_F(Read, ListsComeInPages) {
  ServerProcess server(folder_.path());
  for (uint32_t i = 0; i < 5; ++i) {
    Add(server, SampleReport("simple", i));
  }
  std::string first = server.Get("/api/v1/reports?limit=3").body;
  std::string next = Member(first, "next");
  ASSERT_NE(next, "");
  std::string second =
      server.Get("/api/v1/reports?limit=3&before=" + next).body;
  EXPECT_TRUE(Has(second, "\"next\":null"));
  for (uint32_t i = 0; i < 5; ++i) {
    std::string uuid = UuidOf(SampleReport("simple", i));
    EXPECT_NE(Has(first, uuid), Has(second, uuid)) << i;
  }
  for (const char* wrong : {"limit=0",
                            "limit=201",
                            "limit=x",
                            "before=x",
                            "before=-1",
                            "issue=x"}) {
    EXPECT_EQ(server.Get(std::string("/api/v1/reports?") + wrong).status, 400)
        << wrong;
  }
}

TEST_F(Read, A9_10_WhatCannotBeDecodedKeepsItsBytesAndSaysWhy) {
  ServerProcess server(folder_.path());
  std::string report = SampleReport("simple", 1);
  report[offsetof(format::FileHeader, least_reader_version)] = '\xff';
  SealHeader(&report);
  EXPECT_EQ(server.Put(PathOf(report), report).status, 201);
  auto answer = server.Get(PathOf(report));
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(Has(answer.body, "\"state\":\"undecodable\"")) << answer.body;
  EXPECT_NE(Member(answer.body, "problem"), "");
  EXPECT_EQ(server.Get(PathOf(report) + "/raw").body, report);
}

TEST_F(Read, ACutReportIsShownAsFarAsItGoes) {
  ServerProcess server(folder_.path());
  std::string report = SampleReport("rich", 1);
  report.resize(report.size() / 2);
  Add(server, report);
  std::string body = server.Get(PathOf(report)).body;
  EXPECT_TRUE(Has(body, "\"complete\":false"));
  EXPECT_TRUE(Has(body, "\"problems\":["));
}

TEST_F(Read, PagesCarryHeadersOfSafety) {
  ServerProcess server(folder_.path());
  for (const char* path : {"/",
                           "/reports",
                           "/issues/1",
                           "/api/v1/issues",
                           "/nothing",
                           "/api/v1/nothing"}) {
    auto answer = server.Get(path);
    std::string policy = answer.get_header_value("Content-Security-Policy");
    EXPECT_TRUE(Has(policy, "default-src 'none'")) << path;
    EXPECT_FALSE(Has(policy, "unsafe")) << path;
    EXPECT_EQ(answer.get_header_value("X-Content-Type-Options"), "nosniff");
  }
  EXPECT_EQ(server.Get("/nothing").status, 404);
}

TEST_F(Read, PathsLeadNowhereElse) {
  ServerProcess server(folder_.path());
  Add(server, SampleReport("simple", 1));
  for (const char* path : {"/../../../../etc/passwd",
                           "/%2e%2e/%2e%2e/etc/passwd",
                           "/assets/../../lock",
                           "/api/v1/reports/..%2f..%2flock/raw",
                           "/api/v1/reports/../../lock",
                           "/cairn.sqlite",
                           "/index.html/.."}) {
    auto answer = server.Get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_FALSE(Has(answer.body, "root:")) << path;
  }
  std::string long_path = "/" + std::string(7000, 'a');
  EXPECT_EQ(server.Get(long_path).status, 404);
  EXPECT_EQ(server.Get("/healthz").status, 200);
}

TEST_F(Read, OtherMethodsAreRefused) {
  ServerProcess server(folder_.path());
  for (const char* method : {"POST", "DELETE", "PATCH", "OPTIONS"}) {
    std::string answer = server.Raw(std::string(method) +
                                    " /api/v1/issues HTTP/1.1\r\nHost: x\r\n"
                                    "Content-Length: 0\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 405")) << answer;
  }
}

TEST_F(Read, TheReadTokenGuardsEverythingButHealth) {
  ServerProcess server(folder_.path(), {"--read-token", "secret"});
  std::string report = SampleReport("simple", 1);
  EXPECT_EQ(server.Put(PathOf(report), report).status, 201);
  for (const std::string& path : {std::string("/"),
                                  std::string("/api/v1/issues"),
                                  PathOf(report),
                                  PathOf(report) + "/raw"}) {
    auto answer = server.Get(path);
    EXPECT_EQ(answer.status, 401) << path;
    EXPECT_TRUE(
        Has(answer.get_header_value("WWW-Authenticate"), "Basic realm="));
    const int allowed = AllowedStatus(path);
    EXPECT_EQ(server.Get(path, {{"Authorization", "Bearer secret"}}).status,
              allowed);
    // "me:secret"
    EXPECT_EQ(
        server.Get(path, {{"Authorization", "Basic bWU6c2VjcmV0"}}).status,
        allowed);
  }
  EXPECT_EQ(server.Get("/healthz").status, 200);
}

// A page of a foreign site whose name was given this machine's address: the
// browser sends that name.
TEST_F(Read, OnLoopbackWithoutTokensForeignNamesAreRefused) {
  ServerProcess server(folder_.path());
  const std::string report = SampleReport("simple", 1);
  const httplib::Headers foreign = {{"Host", "evil.example:80"}};
  EXPECT_EQ(server.Put(PathOf(report), report, foreign).status, 421);
  EXPECT_EQ(server.Get(PathOf(report)).status, 404);
  Add(server, report);
  for (const std::string& path : {std::string("/"),
                                  std::string("/reports"),
                                  std::string("/api/v1/issues"),
                                  PathOf(report),
                                  PathOf(report) + "/raw"}) {
    auto refused = server.Get(path, foreign);
    EXPECT_EQ(refused.status, 421) << path;
    EXPECT_TRUE(Has(refused.body, "--allow-host")) << refused.body;
    EXPECT_FALSE(Has(refused.body, "crash_here"));
    for (const char* name :
         {"localhost", "LocalHost:1", "127.0.0.1", "[::1]"}) {
      EXPECT_EQ(server.Get(path, {{"Host", name}}).status, AllowedStatus(path))
          << name << " " << path;
    }
  }
  EXPECT_EQ(server.Get("/healthz", foreign).status, 200);
  // Without a name, as no browser asks.
  EXPECT_TRUE(server.Raw("GET /api/v1/issues HTTP/1.1\r\n\r\n")
                  .starts_with("HTTP/1.1 421"));
}

TEST_F(Read, NamesOfOnesOwnAndTokensLetForeignNamesIn) {
  const httplib::Headers foreign = {{"Host", "crashes.example.org"}};
  {
    ServerProcess server(folder_.path(),
                         {"--allow-host", "crashes.example.org"});
    EXPECT_EQ(server.Get("/api/v1/issues", foreign).status, 200);
    EXPECT_EQ(server.Get("/api/v1/issues", {{"Host", "evil.example"}}).status,
              421);
  }
  ServerProcess server(folder_.path(), {"--read-token", "secret"});
  EXPECT_EQ(server.Get("/api/v1/issues", foreign).status, 401);
  EXPECT_EQ(server
                .Get("/api/v1/issues",
                     {{"Host", "crashes.example.org"},
                      {"Authorization", "Bearer secret"}})
                .status,
            200);
  // Putting has no token here.
  const std::string report = SampleReport("simple", 2);
  EXPECT_EQ(server.Put(PathOf(report), report, foreign).status, 421);
}

TEST_F(Read, HostileRequestsLeaveItServing) {
  ServerProcess server(folder_.path());
  server.Raw(std::string("\0\0\0\0", 4), true);
  server.Raw("GET\r\n\r\n", true);
  server.Raw("PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", true);
  server.Raw("PUT / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
             true);
  server.Raw("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
             true);
  server.Raw("GET /%00%ff%zz HTTP/1.1\r\n\r\n", true);
  EXPECT_EQ(server.Get("/healthz").status, 200);
}

}  // namespace
}  // namespace cairn::server
