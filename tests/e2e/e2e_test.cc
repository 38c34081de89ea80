// SPDX-License-Identifier: Apache-2.0
//
// The whole road: install → crash → relaunch → server, which first answers 503,
// then 201 → exactly one report, symbolicated, nothing sent twice.
#include <gtest/gtest.h>
#include <httplib.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "tests/e2e/process.h"

namespace cairn::e2e {
namespace {

const std::string kBin = std::string(CAIRN_BINARY_DIR) + "/bin/";
const std::string kToken = "e2e-token";

// Stands in front of the real server and refuses the first request.
class Front {
 public:
  explicit Front(int server_port) : server_port_(server_port) {
    front_.Put(
        "/api/v1/reports/.*",
        [this](const httplib::Request& request, httplib::Response& response) {
          Pass(request, &response);
        });
    port_ = front_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { front_.listen_after_bind(); });
  }
  ~Front() {
    front_.stop();
    thread_.join();
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_);
  }
  std::vector<int> statuses() const {
    const std::lock_guard lock(mutex_);
    return statuses_;
  }

 private:
  void Pass(const httplib::Request& request, httplib::Response* response) {
    const std::lock_guard lock(mutex_);
    if (statuses_.empty()) {
      response->status = 503;
    } else {
      // The body has been unzipped on its way in.
      httplib::Client server("127.0.0.1", server_port_);
      const httplib::Headers headers = {
          {"Authorization", request.get_header_value("Authorization")}};
      const auto answer = server.Put(
          request.path, headers, request.body, "application/octet-stream");
      response->status = answer ? answer->status : 502;
    }
    statuses_.push_back(response->status);
  }

  int server_port_;
  int port_ = 0;
  httplib::Server front_;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::vector<int> statuses_;
};

class Road : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cairn-e2e-XXXXXX";
    root_ = mkdtemp(name);
    reports_ = root_ + "/reports";
    server_ = std::make_unique<Server>(
        kBin + "cairn-server", root_ + "/data", kToken);
    ASSERT_NE(server_->port(), 0);
    setenv("CAIRN_UPLOAD_TOKEN", kToken.c_str(), 1);
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(root_);
  }

  std::string Get(const std::string& path) {
    httplib::Client client("127.0.0.1", server_->port());
    const auto answer = client.Get(path);
    return answer && answer->status == 200 ? answer->body : "";
  }
  // The server decodes behind its acknowledgement: asks until the word is
  // there.
  bool Appears(const std::string& path, const std::string& word) {
    for (int i = 0; i < 500; ++i) {
      if (Get(path).find(word) != std::string::npos) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }
  size_t CountFiles(const std::string& directory, const std::string& suffix) {
    size_t count = 0;
    std::error_code missing;
    for (const auto& entry :
         std::filesystem::directory_iterator(directory, missing)) {
      count += entry.path().extension() == suffix ? 1 : 0;
    }
    return count;
  }

  std::string root_, reports_;
  std::unique_ptr<Server> server_;
};

TEST_F(Road, CrashRelaunchUploadOnce) {
  Front front(server_->port());
  const std::vector<std::string> run = {kBin + "crash_sample",
                                        "--directory",
                                        reports_,
                                        "--upload-url",
                                        front.url()};
  std::vector<std::string> crash = run;
  crash.insert(crash.end(), {"--crash", "null_write"});
  const Finished crashed = RunProgram(crash);
  ASSERT_TRUE(WIFSIGNALED(crashed.status));
  EXPECT_EQ(WTERMSIG(crashed.status), SIGSEGV);
  EXPECT_EQ(CountFiles(reports_, ".cairn"), 1u);
  EXPECT_TRUE(front.statuses().empty());

  const Finished relaunched = RunProgram(run);
  EXPECT_EQ(relaunched.status, 0);
  EXPECT_NE(relaunched.output.find("The last run crashed"), std::string::npos);
  EXPECT_EQ(front.statuses(), (std::vector<int>{503, 201}));
  EXPECT_EQ(CountFiles(reports_, ".cairn"), 0u);
  EXPECT_EQ(CountFiles(reports_ + "/sent", ".cairn"), 1u);

  ASSERT_TRUE(Appears("/api/v1/issues", "SIGSEGV"));
  const std::string list = Get("/api/v1/reports");
  const size_t at = list.find("\"uuid\":\"");
  ASSERT_NE(at, std::string::npos) << list;
  const std::string uuid = list.substr(at + 8, 36);
  EXPECT_EQ(list.find("\"uuid\":\"", at + 1), std::string::npos)
      << "more than one report";
  const std::string report = Get("/api/v1/reports/" + uuid);
  EXPECT_NE(report.find("FirstPixel"), std::string::npos);
  EXPECT_NE(report.find("Holidays"), std::string::npos);

  // A third launch finds nothing to send.
  const Finished third = RunProgram(run);
  EXPECT_EQ(third.status, 0);
  EXPECT_EQ(third.output.find("The last run crashed"), std::string::npos);
  EXPECT_EQ(front.statuses().size(), 2u);
}

// The server is down at the next launch: the report waits, with its names, and
// the command sends it later.
TEST_F(Road, ServerDownThenCommand) {
  const std::string nowhere = "http://127.0.0.1:9";
  RunProgram(
      {kBin + "crash_sample", "--directory", reports_, "--crash", "abort"});
  const Finished next = RunProgram({kBin + "crash_sample",
                                    "--directory",
                                    reports_,
                                    "--upload-url",
                                    nowhere});
  EXPECT_EQ(next.status, 0);
  ASSERT_EQ(CountFiles(reports_, ".cairn"), 1u);
  const Finished shown =
      RunProgram({kBin + "cairn", "show", "--json", reports_});
  EXPECT_EQ(WEXITSTATUS(shown.status), 0);
  EXPECT_NE(shown.output.find("DecodePhoto"), std::string::npos);
  const Finished sent =
      RunProgram({kBin + "cairn",
                  "upload",
                  reports_,
                  "--url",
                  "http://127.0.0.1:" + std::to_string(server_->port()),
                  "--token",
                  kToken});
  EXPECT_EQ(sent.status, 0) << sent.output;
  EXPECT_EQ(CountFiles(reports_, ".cairn"), 0u);
  EXPECT_TRUE(Appears("/api/v1/issues", "SIGABRT"));
}

}  // namespace
}  // namespace cairn::e2e
