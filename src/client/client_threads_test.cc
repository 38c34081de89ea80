// SPDX-License-Identifier: Apache-2.0
//
// The client used by many threads at once, as ThreadSanitizer and
// AddressSanitizer want to see it: annotations, captures, the background work
// of the next launch, threads older than the install, uninstall below all this.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cairn/cairn.h"
#include "report/reader.h"
#include "upload/testing/report_directory.h"
#include "upload/testing/test_server.h"

namespace cairn::client {
namespace {

using upload::ReportDirectory;

cairn_status Install(const ReportDirectory& directory,
                     const std::string& url = "") {
  cairn_config config;
  cairn_config_init(&config);
  config.directory = directory.path().c_str();
  config.upload_url = url.c_str();
  return cairn_install(&config);
}

// Threads that call `body` again and again until they are told to end.
class Busy {
 public:
  Busy(int count, const std::function<void(int thread, int round)>& body) {
    for (int thread = 0; thread < count; ++thread) {
      threads_.emplace_back([this, body, thread] {
        for (int round = 0; !stop_; ++round) {
          body(thread, round);
          ++rounds_;
        }
      });
    }
  }
  ~Busy() { Stop(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  void AwaitRounds(int count) const {
    const int end = rounds_ + count;
    while (rounds_ < end) {
      std::this_thread::yield();
    }
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> rounds_{0};
  std::vector<std::thread> threads_;
};

// One letter alone, 1 to 200 times: torn when two of them are in one text.
std::string OneLetter(int thread, int round) {
  return std::string(static_cast<size_t>(1 + round * 37 % 180),
                     static_cast<char>('a' + thread));
}

bool IsOneLetter(const std::string& text) {
  return !text.empty() && text.find_first_not_of(text[0]) == std::string::npos;
}

std::string OnlyReport(const ReportDirectory& directory) {
  for (const std::string& name : directory.Names()) {
    if (std::filesystem::path(name).extension() == ".cairn") {
      return name;
    }
  }
  return "";
}

TEST(ClientThreads, AnnotationsOfManyThreadsAreNotTornInACapture) {
  const ReportDirectory directory;
  ASSERT_EQ(Install(directory), CAIRN_OK);
  {
    Busy busy(4, [](int thread, int round) {
      const std::string text = OneLetter(thread, round);
      EXPECT_EQ(cairn_add_breadcrumb(text.substr(0, 20).c_str(), text.c_str()),
                CAIRN_OK);
      const std::string key(3, text[0]);
      const cairn_status set = cairn_set_key(key.c_str(), text.c_str());
      EXPECT_TRUE(set == CAIRN_OK || set == CAIRN_LIMIT);
    });
    busy.AwaitRounds(2000);
    EXPECT_EQ(cairn_capture("capture", "in the midst of it"), CAIRN_OK);
  }
  EXPECT_EQ(cairn_uninstall(), CAIRN_OK);
  const auto bytes = directory.Read(OnlyReport(directory));
  const auto read = report::ReadReport(bytes.data(), bytes.size());
  EXPECT_EQ(read.status, report::ReadStatus::kWhole);
  EXPECT_GE(read.report.threads.size(), 5u);
  EXPECT_GE(read.report.breadcrumbs.size(), 32u);
  for (const auto& crumb : read.report.breadcrumbs) {
    EXPECT_TRUE(IsOneLetter(crumb.category + crumb.message)) << crumb.message;
  }
  EXPECT_FALSE(read.report.keys.empty());
  for (const auto& key : read.report.keys) {
    EXPECT_TRUE(IsOneLetter(key.first + key.second)) << key.second;
  }
}

// Whoever has just asked for the state may still hold it behind an uninstall.
TEST(ClientThreads, AnnotationsWhileOthersInstallAndUninstall) {
  const ReportDirectory directory;
  Busy busy(3, [](int thread, int round) {
    const std::string text = OneLetter(thread, round);
    cairn_add_breadcrumb(nullptr, text.c_str());
    cairn_set_key(text.substr(0, 2).c_str(), text.c_str());
  });
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(Install(directory), CAIRN_OK);
    ASSERT_EQ(Install(directory), CAIRN_ALREADY_INSTALLED);
    busy.AwaitRounds(20);
    ASSERT_EQ(cairn_uninstall(), CAIRN_OK);
  }
  EXPECT_EQ(cairn_uninstall(), CAIRN_NOT_INSTALLED);
}

TEST(ClientThreads, KeyOfAFormerInstallIsNotInTheNext) {
  const ReportDirectory directory;
  ASSERT_EQ(Install(directory), CAIRN_OK);
  ASSERT_EQ(cairn_set_key("former", "1"), CAIRN_OK);
  ASSERT_EQ(cairn_uninstall(), CAIRN_OK);
  ASSERT_EQ(Install(directory), CAIRN_OK);
  ASSERT_EQ(cairn_set_key("later", "1"), CAIRN_OK);
  ASSERT_EQ(cairn_capture("capture", ""), CAIRN_OK);
  ASSERT_EQ(cairn_uninstall(), CAIRN_OK);
  const auto bytes = directory.Read(OnlyReport(directory));
  const auto read = report::ReadReport(bytes.data(), bytes.size());
  ASSERT_EQ(read.report.keys.size(), 1u);
  EXPECT_EQ(read.report.keys[0].first, "later");
}

TEST(ClientThreads, NextLaunchSendsInTheBackgroundBesideAnnotations) {
  const ReportDirectory directory;
  for (uint8_t seed = 1; seed <= 3; ++seed) {
    directory.AddReport(seed, seed);
  }
  upload::TestServer server;
  ASSERT_EQ(Install(directory, server.url()), CAIRN_OK);
  {
    Busy busy(2, [](int thread, int round) {
      cairn_add_breadcrumb("busy", OneLetter(thread, round).c_str());
    });
    busy.AwaitRounds(100);
  }
  ASSERT_EQ(cairn_uninstall(), CAIRN_OK);
  EXPECT_EQ(server.kept().size(), 3u);
  EXPECT_EQ(directory.Names("sent").size(), 3u);
}

// The kernel is asked, in each thread itself. Install waits for a bounded time,
// so on a busy machine a thread may be left to the next one.
TEST(ClientThreads, ThreadsOlderThanTheInstallHaveAnAlternateStack) {
  const ReportDirectory directory;
  constexpr int kThreads = 8;
  std::atomic<uint32_t> sufficient{0};  // a bit a thread
  Busy busy(kThreads, [&](int thread, int /*round*/) {
    stack_t stack{};
    sigaltstack(nullptr, &stack);
    if ((stack.ss_flags & SS_DISABLE) == 0 && stack.ss_size >= size_t{48}
                                                                   << 10) {
      sufficient |= 1u << thread;
    }
    std::this_thread::yield();
  });
  busy.AwaitRounds(10 * kThreads);
  EXPECT_EQ(sufficient, 0u);
  for (int i = 0; i < 100 && sufficient != (1u << kThreads) - 1; ++i) {
    ASSERT_EQ(Install(directory), CAIRN_OK);
    busy.AwaitRounds(10 * kThreads);
    ASSERT_EQ(cairn_uninstall(), CAIRN_OK);
  }
  EXPECT_EQ(sufficient, (1u << kThreads) - 1);
}

}  // namespace
}  // namespace cairn::client
