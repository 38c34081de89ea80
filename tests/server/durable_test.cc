// SPDX-License-Identifier: Apache-2.0
//
// What was acknowledged stays, whatever happens to the server.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "server_process.h"

namespace cairn::server {
namespace {

namespace fs = std::filesystem;

class Durable : public testing::Test {
 protected:
  std::string FileOf(const std::string& report) const {
    std::string uuid = UuidOf(report);
    return folder_.path() + "/reports/" + uuid.substr(0, 2) + "/" + uuid +
           ".cairn";
  }
  TemporaryFolder folder_;
};

TEST_F(Durable, SixteenClientsWithOneReportMakeOne) {
  ServerProcess server(folder_.path(), {"--reports-per-minute", "0"});
  for (uint32_t round = 0; round < 5; ++round) {
    std::string report = SampleReport("simple", round);
    std::string body = Gzip(report);
    std::atomic<int> made = 0, same = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 16; ++i) {
      clients.emplace_back([&] {
        int status =
            server.Put(PathOf(report), body, {{"Content-Encoding", "gzip"}})
                .status;
        made += status == 201;
        same += status == 200;
      });
    }
    for (std::thread& client : clients) {
      client.join();
    }
    EXPECT_EQ(made, 1);
    EXPECT_EQ(same, 15);
  }
}

// Clients put until the server is killed under them; then everything that one
// of them was told is kept must be there.
TEST_F(Durable, A8_4_KilledServerKeepsWhatItAcknowledged) {
  std::vector<std::string> acknowledged;
  std::mutex mutex;
  uint32_t number = 0;
  for (int round = 0; round < 3; ++round) {
    ServerProcess server(folder_.path(), {"--reports-per-minute", "0"});
    std::atomic<bool> stop = false;
    std::atomic<uint32_t> done = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        while (!stop) {
          std::unique_lock lock(mutex);
          std::string report = SampleReport("simple", number++);
          lock.unlock();
          if (server.Put(PathOf(report), report).status == 201) {
            lock.lock();
            acknowledged.push_back(report);
            ++done;
          }
        }
      });
    }
    while (done < 20) {
      std::this_thread::yield();
    }
    server.End(SIGKILL);
    stop = true;
    for (std::thread& client : clients) {
      client.join();
    }
  }
  ServerProcess server(folder_.path(), {"--reports-per-minute", "0"});
  ASSERT_GE(acknowledged.size(), 60u);
  for (const std::string& report : acknowledged) {
    EXPECT_EQ(server.Get(PathOf(report) + "/raw").body, report);
    EXPECT_EQ(server.Put(PathOf(report), report).status, 200);
  }
}

TEST_F(Durable, BytesWithoutARowAreFoundAtTheStart) {
  std::string report = SampleReport("simple", 7);
  {
    ServerProcess server(folder_.path());
  }
  fs::create_directory(fs::path(FileOf(report)).parent_path());
  std::ofstream(FileOf(report), std::ios::binary) << report;
  ServerProcess server(folder_.path());
  EXPECT_EQ(server.Get(PathOf(report) + "/raw").body, report);
  EXPECT_NE(server.Get(PathOf(report)).body.find("crash_here"),
            std::string::npos);
  EXPECT_EQ(server.Put(PathOf(report), report).status, 200);
}

TEST_F(Durable, HalfWrittenFilesAreRemovedAtTheStart) {
  {
    ServerProcess server(folder_.path());
  }
  std::string half = folder_.path() + "/temporary/half.cairn";
  std::ofstream(half) << "half";
  ServerProcess server(folder_.path());
  EXPECT_FALSE(fs::exists(half));
}

TEST_F(Durable, ALostFileIsToldNotInvented) {
  std::string report = SampleReport("simple", 7);
  ServerProcess server(folder_.path());
  EXPECT_EQ(server.Put(PathOf(report), report).status, 201);
  server.Get(PathOf(report));  // waits until it is decoded
  fs::remove(FileOf(report));
  EXPECT_NE(server.Get(PathOf(report)).body.find("missing"), std::string::npos);
  EXPECT_EQ(server.Get(PathOf(report) + "/raw").status, 404);
}

TEST_F(Durable, FilesAreTheOwnersAlone) {
  std::string report = SampleReport("simple", 7);
  ServerProcess server(folder_.path() + "/data");
  server.Put(PathOf(report), report);
  fs::path data = folder_.path() + "/data";
  auto others = fs::perms::group_all | fs::perms::others_all;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    if (entry.is_directory() || entry.path().extension() == ".cairn") {
      EXPECT_EQ(entry.status().permissions() & others, fs::perms::none)
          << entry.path();
    }
  }
  EXPECT_EQ(fs::status(data).permissions() & others, fs::perms::none);
}

TEST_F(Durable, SymbolicLinksAreNotFollowed) {
  std::string report = SampleReport("simple", 7);
  {
    ServerProcess server(folder_.path());
  }
  fs::create_directory(fs::path(FileOf(report)).parent_path());
  std::string outside = folder_.path() + "/outside";
  fs::create_symlink(outside, FileOf(report));
  ServerProcess server(folder_.path());
  EXPECT_EQ(server.Put(PathOf(report), report).status, 503);
  EXPECT_FALSE(fs::exists(outside));
}

TEST_F(Durable, TwoServersDoNotShareAFolder) {
  ServerProcess server(folder_.path());
  EXPECT_THROW(ServerProcess(folder_.path()), std::runtime_error);
}

TEST_F(Durable, TermAndIntEndItCleanly) {
  for (int signal_number : {SIGTERM, SIGINT}) {
    ServerProcess server(folder_.path());
    int status = server.End(signal_number);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

}  // namespace
}  // namespace cairn::server
