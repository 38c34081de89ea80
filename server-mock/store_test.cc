// SPDX-License-Identifier: Apache-2.0
#include "store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>

namespace cairn::server {
namespace {

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string text = testing::TempDir() + "cairn-store-XXXXXX";
    folder_ = mkdtemp(text.data());
  }
  ~StoreTest() override { std::filesystem::remove_all(folder_); }
  std::string Path() const { return folder_ + "/test.sqlite"; }
  static Decoded Crash(const std::string& signature,
                       const std::string& version = "1.0") {
    Decoded decoded;
    decoded.title = "SIGSEGV in " + signature;
    decoded.signature = signature;
    decoded.signature_version = 1;
    decoded.kind = "crash";
    decoded.app_id = "org.example";
    decoded.app_version = version;
    return decoded;
  }
  static void Add(Store* store,
                  const std::string& uuid,
                  const Decoded& decoded,
                  int64_t received_ms) {
    ASSERT_TRUE(store->AddReport(uuid, 100, received_ms));
    store->FinishDecoded(uuid, decoded);
  }
  static std::vector<Issue> All(Store* store) {
    return store->Issues(INT64_MAX, INT64_MAX, 100, 0);
  }

  std::string folder_;
};

TEST_F(StoreTest, AReportIsAddedOnce) {
  Store store(Path());
  EXPECT_TRUE(store.AddReport("u1", 10, 1000));
  EXPECT_FALSE(store.AddReport("u1", 10, 2000));
  EXPECT_EQ(store.ReportOf("u1")->received_ms, 1000);
  EXPECT_EQ(store.ReportOf("u1")->state, ReportState::kWaiting);
  EXPECT_EQ(store.Waiting(10), std::vector<std::string>{"u1"});
  EXPECT_FALSE(store.ReportOf("u2"));
}

TEST_F(StoreTest, ReportsOfOneSignatureAreOneIssue) {
  Store store(Path());
  Add(&store, "u1", Crash("a"), 5 * Store::kDayMs);
  Add(&store, "u2", Crash("a", "2.0"), 7 * Store::kDayMs);
  Add(&store, "u3", Crash("b"), 6 * Store::kDayMs);
  auto issues = All(&store);
  ASSERT_EQ(issues.size(), 2u);
  EXPECT_EQ(issues[0].signature, "a");
  EXPECT_EQ(issues[0].count, 2);
  EXPECT_EQ(issues[0].first_seen_ms, 5 * Store::kDayMs);
  EXPECT_EQ(issues[0].last_seen_ms, 7 * Store::kDayMs);
  EXPECT_EQ(issues[0].latest_report, "u2");
  EXPECT_EQ(issues[0].versions.size(), 2u);
  EXPECT_EQ(issues[0].days,
            (std::vector<std::pair<int64_t, int64_t>>{{5, 1}, {7, 1}}));
  EXPECT_EQ(store.Reports(issues[0].id, INT64_MAX, 10).size(), 2u);
  EXPECT_EQ(store.Count().reports, 3);
  EXPECT_EQ(store.Count().issues, 2);
}

TEST_F(StoreTest, A9_9_AppsShareNoIssue) {
  Store store(Path());
  Decoded other = Crash("a");
  other.app_id = "org.other";
  Add(&store, "u1", Crash("a"), 1000);
  Add(&store, "u2", other, 2000);
  EXPECT_EQ(All(&store).size(), 2u);
}

TEST_F(StoreTest, A9_16_ANewSignatureVersionRegroupsNothing) {
  Store store(Path());
  Add(&store, "u1", Crash("a"), 1000);
  Decoded next = Crash("a");
  next.signature_version = 2;
  Add(&store, "u2", next, 2000);
  auto issues = All(&store);
  ASSERT_EQ(issues.size(), 2u);
  EXPECT_EQ(issues[1].signature_version, 1);
  EXPECT_EQ(issues[1].count, 1);
}

TEST_F(StoreTest, DecodingTwiceCountsOnce) {
  Store store(Path());
  Add(&store, "u1", Crash("a"), 1000);
  store.FinishDecoded("u1", Crash("a"));
  store.FinishUndecodable("u1", "no");
  EXPECT_EQ(All(&store)[0].count, 1);
  EXPECT_EQ(store.ReportOf("u1")->state, ReportState::kDecoded);
}

TEST_F(StoreTest, AnUndecodableReportSaysWhy) {
  Store store(Path());
  store.AddReport("u1", 10, 1000);
  EXPECT_EQ(store.BeginDecoding("u1"), 1);
  EXPECT_EQ(store.BeginDecoding("u1"), 2);
  store.FinishUndecodable("u1", "too new");
  EXPECT_EQ(store.ReportOf("u1")->problem, "too new");
  EXPECT_EQ(store.Count().undecodable, 1);
  EXPECT_EQ(store.Count().waiting, 0);
  EXPECT_TRUE(store.Waiting(10).empty());
}

TEST_F(StoreTest, ListsGoOnBehindTheCursor) {
  Store store(Path());
  for (int i = 0; i < 5; ++i) {
    std::string n = std::to_string(i);
    Add(&store, "u" + n, Crash("s" + n), 1000);
  }
  auto first = store.Issues(INT64_MAX, INT64_MAX, 3, 0);
  ASSERT_EQ(first.size(), 3u);
  auto second = store.Issues(1000, first.back().id, 3, 0);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second.back().signature, "s0");
  auto reports = store.Reports(std::nullopt, INT64_MAX, 2);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].uuid, "u4");
  EXPECT_EQ(store.Reports(std::nullopt, reports[1].id, 10).size(), 3u);
}

TEST_F(StoreTest, EverythingIsThereAfterReopening) {
  {
    Store store(Path());
    Add(&store, "u1", Crash("a'); DROP TABLE reports; --"), 1000);
  }
  Store store(Path());
  EXPECT_EQ(All(&store)[0].signature, "a'); DROP TABLE reports; --");
}

TEST_F(StoreTest, RefusesADatabaseOfANewerServer) {
  {
    Store store(Path());
  }
  {
    Connection connection(Path());
    connection.Run("PRAGMA user_version=1000");
  }
  EXPECT_THROW(Store store(Path()), DatabaseError);
}

TEST_F(StoreTest, CommitsAreFlushed) {
  Connection connection(Path());
  Statement mode(connection, "PRAGMA journal_mode");
  ASSERT_TRUE(mode.Step());
  EXPECT_EQ(mode.Text(0), "wal");
  Statement level(connection, "PRAGMA synchronous");
  ASSERT_TRUE(level.Step());
  EXPECT_EQ(level.Int(0), 2);  // FULL
}

}  // namespace
}  // namespace cairn::server
