// SPDX-License-Identifier: Apache-2.0
//
// Real files, a real server, real processes that are killed.
#include "upload/uploader.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "upload/testing/report_directory.h"
#include "upload/testing/test_server.h"

namespace cairn::upload {
namespace {

using Names = std::vector<std::string>;

Options OptionsFor(const ReportDirectory& directory, const std::string& url) {
  Options options;
  options.directory = directory.path();
  options.url = url;
  options.timeout_ms = 10000;
  options.first_delay_ms = 1;
  return options;
}

TestServer::Script AlwaysAnswer(int status) {
  return [status](int, const httplib::Request&, httplib::Response* response) {
    response->status = status;
    return true;
  };
}

TEST(Uploader, A8_4_Unavailable503Then201SendsOnce) {
  const ReportDirectory directory;
  const auto bytes = directory.AddReport(1, 0);
  TestServer server(
      [](int number, const httplib::Request&, httplib::Response* response) {
        response->status = 503;
        return number == 0;
      });
  Options options = OptionsFor(directory, server.url() + "/");
  options.token = "secret";
  const auto results = UploadAll(options);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcome, Outcome::kSent) << results[0].message;
  EXPECT_EQ(results[0].http_status, 201);
  EXPECT_EQ(results[0].path, directory.path() + "/1.cairn");
  EXPECT_EQ(server.requests(), 2);
  ASSERT_EQ(server.kept().size(), 1u);
  EXPECT_EQ(server.kept().at(UuidOf(1)), bytes);
  const auto headers = server.headers().at(1);
  EXPECT_EQ(headers.find("Authorization")->second, "Bearer secret");
  EXPECT_EQ(headers.find("Content-Encoding")->second, "gzip");
  EXPECT_EQ(directory.Names(), Names{});
  EXPECT_EQ(directory.Names("sent"), Names{"1.cairn"});
  EXPECT_TRUE(UploadAll(options).empty());
  EXPECT_EQ(server.requests(), 2);
}

TEST(Uploader, UnusedRestOfASlotIsNotSent) {
  const ReportDirectory directory;
  auto bytes = directory.AddReport(1, 0);
  auto longer = bytes;
  longer.resize(bytes.size() + 5000);
  directory.Write("1.cairn", longer);
  TestServer server;
  UploadAll(OptionsFor(directory, server.url()));
  EXPECT_EQ(server.kept().at(UuidOf(1)), bytes);
}

TEST(Uploader, A8_8_ShortRetryAfterIsWaitedFor) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  TestServer server(
      [](int number, const httplib::Request&, httplib::Response* response) {
        response->status = 429;
        response->set_header("Retry-After", "1");
        return number == 0;
      });
  const auto results = UploadAll(OptionsFor(directory, server.url()));
  EXPECT_EQ(results.at(0).outcome, Outcome::kSent);
  EXPECT_EQ(server.requests(), 2);
}

// Kept, and nobody is asked again until then: not by this call for the second
// report, not by the next launch.
TEST(Uploader, A8_5_A8_8_LongRetryAfterKeepsAndPauses) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  directory.AddReport(2, 5);
  TestServer server(
      [](int, const httplib::Request&, httplib::Response* response) {
        response->status = 429;
        response->set_header("retry-after", "3600");
        return true;
      });
  for (int launch = 0; launch < 2; ++launch) {
    const auto results = UploadAll(OptionsFor(directory, server.url()));
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].outcome, Outcome::kRetryLater);
    EXPECT_EQ(results[1].outcome, Outcome::kRetryLater);
  }
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(directory.Names(), (Names{"1.cairn", "2.cairn"}));
}

TEST(Uploader, A8_13_APauseFromAFutureClockIsForgotten) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  const std::string text = std::to_string(std::time(nullptr) + 40 * 86400);
  directory.Write(".upload.pause", {text.begin(), text.end()});
  TestServer server;
  EXPECT_EQ(UploadAll(OptionsFor(directory, server.url())).at(0).outcome,
            Outcome::kSent);
}

TEST(Uploader, A8_14_RefusedOnesAreSetAsideWithTheReason) {
  for (int status : {400, 409, 413}) {
    const ReportDirectory directory;
    directory.AddReport(1, 0);
    directory.AddReport(2, 5);
    TestServer server([status](int number,
                               const httplib::Request&,
                               httplib::Response* response) {
      response->status = status;
      response->set_content("{\"error\":\"because\"}", "application/json");
      return number == 0;
    });
    const auto results = UploadAll(OptionsFor(directory, server.url()));
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].outcome, Outcome::kRefused);
    EXPECT_EQ(results[0].http_status, status);
    EXPECT_NE(results[0].message.find("because"), std::string::npos);
    EXPECT_EQ(results[1].outcome, Outcome::kSent) << "the next one goes";
    EXPECT_EQ(directory.Names("refused"), Names{"1.cairn"});
  }
}

TEST(Uploader, A8_5_WithoutTheTokenEverythingIsKept) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  directory.AddReport(2, 5);
  TestServer server(AlwaysAnswer(401));
  const auto results = UploadAll(OptionsFor(directory, server.url()));
  EXPECT_EQ(results.at(0).outcome, Outcome::kUnauthorized);
  EXPECT_EQ(results.at(1).outcome, Outcome::kUnauthorized);
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(directory.Names().size(), 2u);
}

TEST(Uploader, A8_5_AttemptsEndAndTheReportStays) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  TestServer server(AlwaysAnswer(500));
  Options options = OptionsFor(directory, server.url());
  options.attempts = 3;
  EXPECT_EQ(UploadAll(options).at(0).outcome, Outcome::kRetryLater);
  EXPECT_EQ(server.requests(), 3);
  EXPECT_EQ(directory.Names(), Names{"1.cairn"});
}

// A report that the server stumbles over does not block the others.
TEST(Uploader, PoisonReportDoesNotBlockTheQueue) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  directory.AddReport(2, 5);
  TestServer server(
      [](int, const httplib::Request& request, httplib::Response* response) {
        response->status = 500;
        return request.matches[1] == UuidOf(1);
      });
  const auto results = UploadAll(OptionsFor(directory, server.url()));
  EXPECT_EQ(results.at(0).outcome, Outcome::kRetryLater);
  EXPECT_EQ(results.at(1).outcome, Outcome::kSent);
}

TEST(Uploader, A8_6_PageOfAnotherServerAcknowledgesNothing) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  TestServer server(
      [](int, const httplib::Request&, httplib::Response* response) {
        response->status = 200;
        response->set_content("<html>Log in</html>", "text/html");
        return true;
      });
  EXPECT_EQ(UploadAll(OptionsFor(directory, server.url())).at(0).outcome,
            Outcome::kRetryLater);
  EXPECT_EQ(directory.Names(), Names{"1.cairn"});
}

TEST(Uploader, RedirectIsNotFollowed) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  TestServer other;
  TestServer server(
      [&](int, const httplib::Request& request, httplib::Response* response) {
        response->set_redirect(other.url() + request.path, 307);
        return true;
      });
  const auto results = UploadAll(OptionsFor(directory, server.url()));
  EXPECT_EQ(results.at(0).outcome, Outcome::kRetryLater);
  EXPECT_NE(results.at(0).message.find(other.url()), std::string::npos);
  EXPECT_EQ(other.requests(), 0);
}

TEST(Uploader, A8_11_HangingServerEndsWithTheTimeout) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  std::atomic<bool> over{false};
  RawServer server([&](int) {
    while (!over) {
      usleep(1000);
    }
  });
  Options options = OptionsFor(directory, server.url());
  options.timeout_ms = 200;
  options.attempts = 1;
  const auto results = UploadAll(options);
  over = true;
  EXPECT_EQ(results.at(0).outcome, Outcome::kRetryLater);
  EXPECT_EQ(results.at(0).http_status, 0);
  EXPECT_EQ(directory.Names(), Names{"1.cairn"});
}

TEST(Uploader, A8_11_StopEndsARunningRequest) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  std::atomic<bool> stop{false};
  std::atomic<bool> over{false};
  RawServer server([&](int) {
    stop = true;
    while (!over) {
      usleep(1000);
    }
  });
  Options options = OptionsFor(directory, server.url());
  options.timeout_ms = 3600 * 1000;
  EXPECT_EQ(UploadAll(options, &stop).at(0).outcome, Outcome::kRetryLater);
  over = true;
  EXPECT_EQ(directory.Names(), Names{"1.cairn"});
}

// The connection breaks in the middle of the body; the next launch sends it.
TEST(Uploader, A8_4_ResetMidBodyLosesNothing) {
  const ReportDirectory directory;
  const auto bytes = directory.AddReport(1, 0);
  {
    RawServer server([](int socket) {
      char some[64];
      const linger at_once{1, 0};
      setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
      EXPECT_GT(recv(socket, some, sizeof(some), 0), 0);
    });
    Options options = OptionsFor(directory, server.url());
    options.attempts = 2;
    EXPECT_EQ(UploadAll(options).at(0).outcome, Outcome::kRetryLater);
    EXPECT_EQ(server.connections(), 2);
  }
  TestServer server;
  EXPECT_EQ(UploadAll(OptionsFor(directory, server.url())).at(0).outcome,
            Outcome::kSent);
  EXPECT_EQ(server.kept().at(UuidOf(1)), bytes);
}

TEST(Uploader, NoServerAtAllKeepsEverything) {
  const ReportDirectory directory;
  for (uint8_t seed = 1; seed <= 5; ++seed) {
    directory.AddReport(seed, seed);
  }
  Options options = OptionsFor(directory, "http://127.0.0.1:1");
  options.attempts = 2;
  const auto results = UploadAll(options);
  ASSERT_EQ(results.size(), 5u);
  for (const Result& result : results) {
    EXPECT_EQ(result.outcome, Outcome::kRetryLater);
  }
  EXPECT_EQ(directory.Names().size(), 5u);
}

TEST(Uploader, BadAddressOrTokenSendsNothing) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  TestServer server;
  for (const std::string url : {"", "ftp://127.0.0.1", "file:///etc/passwd"}) {
    EXPECT_EQ(UploadAll(OptionsFor(directory, url)).at(0).outcome,
              Outcome::kRetryLater);
  }
  Options options = OptionsFor(directory, server.url());
  options.token = "a\r\nX-Injected: b";
  EXPECT_EQ(UploadAll(options).at(0).outcome, Outcome::kRetryLater);
  EXPECT_EQ(server.requests(), 0);
}

TEST(Uploader, FileThatIsNoReportIsSetAside) {
  const ReportDirectory directory;
  directory.Write("x.cairn", {'n', 'o'});
  TestServer server;
  EXPECT_EQ(UploadAll(OptionsFor(directory, server.url())).at(0).outcome,
            Outcome::kRefused);
  EXPECT_EQ(directory.Names("refused"), Names{"x.cairn"});
  EXPECT_EQ(server.requests(), 0);
}

// Killed while the server still reads: nothing was acknowledged, the report is
// there, and the next launch sends it.
TEST(Uploader, A8_9_KilledBeforeTheAnswerIsSentOnceByTheNextLaunch) {
  const ReportDirectory directory;
  const auto bytes = directory.AddReport(1, 0);
  std::atomic<int> child{0};
  // The server takes the report; its sender dies before it hears of it.
  TestServer server(
      [&](int number, const httplib::Request&, httplib::Response*) {
        while (child == 0) {
          usleep(1000);
        }
        if (number == 0) {
          kill(child, SIGKILL);
        }
        return false;
      });
  const Options options = OptionsFor(directory, server.url());
  child =
      StartChild([&] { return static_cast<int>(UploadAll(options).size()); });
  EXPECT_EQ(JoinChild(child), -1);
  EXPECT_EQ(directory.Names(), Names{"1.cairn"}) << "not acknowledged";
  const auto results = UploadAll(options);
  EXPECT_EQ(results.at(0).outcome, Outcome::kSent);
  EXPECT_EQ(results.at(0).http_status, 200) << "the server had it";
  ASSERT_EQ(server.kept().size(), 1u);
  EXPECT_EQ(server.kept().at(UuidOf(1)), bytes);
  EXPECT_EQ(directory.Names("sent"), Names{"1.cairn"});
}

TEST(Uploader, A8_9_TwoProcessesSendOnce) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  std::atomic<bool> go{false};
  TestServer server([&](int, const httplib::Request&, httplib::Response*) {
    while (!go) {
      usleep(1000);
    }
    return false;
  });
  const Options options = OptionsFor(directory, server.url());
  const int child = StartChild([&] {
    const auto results = UploadAll(options);
    return results.size() == 1 && results[0].outcome == Outcome::kSent ? 0 : 1;
  });
  while (server.requests() == 0) {
    usleep(1000);
  }
  const auto results = UploadAll(options);  // while the other one is at it
  go = true;
  EXPECT_EQ(JoinChild(child), 0);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcome, Outcome::kRetryLater);
  EXPECT_NE(results[0].message.find("another process"), std::string::npos);
  EXPECT_EQ(server.requests(), 1);
}

TEST(Uploader, A8_12_OnlyTheNewestAreKept) {
  const ReportDirectory directory;
  for (uint8_t seed = 1; seed <= 6; ++seed) {
    directory.AddReport(seed, seed * 10);
  }
  TestServer server;
  Options options = OptionsFor(directory, server.url());
  options.keep_unsent = 4;
  options.keep_sent = 2;
  EXPECT_EQ(Prune(options), 2u);
  EXPECT_EQ(directory.Names(),
            (Names{"1.cairn", "2.cairn", "3.cairn", "4.cairn"}));
  UploadAll(options);
  EXPECT_EQ(server.kept().size(), 4u);
  EXPECT_EQ(directory.Names("sent"), (Names{"1.cairn", "2.cairn"}));
}

TEST(Uploader, A8_15_ProxyOfTheEnvironmentIsUsed) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  std::string asked;
  {
    RawServer proxy([&](int socket) {
      char head[512];
      const ssize_t got = recv(socket, head, sizeof(head), 0);
      asked.assign(head, got > 0 ? static_cast<size_t>(got) : 0);
    });
    setenv("http_proxy", proxy.url().c_str(), 1);
    Options options = OptionsFor(directory, "http://crash.example");
    options.attempts = 1;
    UploadAll(options);
    unsetenv("http_proxy");
  }
  EXPECT_EQ(asked.rfind("PUT http://crash.example/api/v1/reports/", 0), 0u)
      << asked;
}

// A certificate that nobody vouches for, then with SSL_CERT_FILE vouching.
TEST(Uploader, A8_15_CertificatesAreCheckedAndFoundByTheEnvironment) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  const std::string certificate = directory.path() + "/certificate.pem";
  const std::string key = directory.path() + "/key.pem";
  ASSERT_EQ(std::system(("openssl req -x509 -newkey rsa:2048 -nodes -days 2 "
                         "-subj /CN=localhost -addext "
                         "subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout " +
                         key + " -out " + certificate + " 2>/dev/null")
                            .c_str()),
            0);
  httplib::SSLServer server(certificate.c_str(), key.c_str());
  std::atomic<int> requests{0};
  server.Put(".*", [&](const httplib::Request&, httplib::Response& response) {
    ++requests;
    response.status = 201;
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) {
    std::this_thread::yield();
  }
  Options options =
      OptionsFor(directory, "https://127.0.0.1:" + std::to_string(port));
  options.attempts = 1;
  const auto refused = UploadAll(options);
  EXPECT_EQ(requests, 0);
  setenv("SSL_CERT_FILE", certificate.c_str(), 1);
  const auto sent = UploadAll(options);
  unsetenv("SSL_CERT_FILE");
  server.stop();
  thread.join();
  EXPECT_EQ(refused.at(0).outcome, Outcome::kRetryLater);
  EXPECT_EQ(sent.at(0).outcome, Outcome::kSent) << sent.at(0).message;
  EXPECT_EQ(requests, 1);
}

// Neither libcurl nor zlib may cost a program that never sends anything.
TEST(Uploader, A8_16_LibcurlIsLoadedAtFirstUseOnly) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const bool before = dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD);
        const ReportDirectory directory;
        directory.AddReport(1, 0);
        Options options = OptionsFor(directory, "http://127.0.0.1:1");
        options.attempts = 1;
        UploadAll(options);
        const bool after = dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD);
        std::fprintf(stderr, "before %d after %d\n", before, after);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0),
      "before 0 after 1");
}

}  // namespace
}  // namespace cairn::upload
