// SPDX-License-Identifier: Apache-2.0
//
// What was set, as the shipped reader reads it out of a report.
#include "writer/annotations.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "report/reader.h"
#include "samples/sample_file.h"

namespace cairn::writer {
namespace {

class AnnotationsTest : public testing::Test {
 protected:
  report::Report Written() {
    samples::SampleFile file(1);
    PutAnnotations(&file.records(), *annotations_);
    EXPECT_EQ(file.records().dropped(), 0u);
    const std::vector<uint8_t> bytes = file.Finish();
    report::ReadResult result = report::ReadReport(bytes.data(), bytes.size());
    EXPECT_EQ(result.status, report::ReadStatus::kWhole);
    return std::move(result.report);
  }

  const std::unique_ptr<Annotations> annotations_ =
      std::make_unique<Annotations>();
};

TEST_F(AnnotationsTest, KeysAreSetReplacedAndRemoved) {
  EXPECT_TRUE(SetKey(annotations_.get(), "a", "1"));
  EXPECT_TRUE(SetKey(annotations_.get(), "ab", ""));
  EXPECT_TRUE(SetKey(annotations_.get(), "a", "two"));
  EXPECT_TRUE(SetKey(annotations_.get(), "gone", "x"));
  EXPECT_TRUE(SetKey(annotations_.get(), "gone", nullptr));
  EXPECT_TRUE(SetKey(annotations_.get(), "never", nullptr));
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"a", "two"}, {"ab", ""}};
  EXPECT_EQ(Written().keys, expected);
}

TEST_F(AnnotationsTest, TableOfSixtyFourIsFull) {
  for (int i = 0; i < 64; ++i) {
    EXPECT_TRUE(SetKey(annotations_.get(), std::to_string(i).c_str(), "v"));
  }
  EXPECT_FALSE(SetKey(annotations_.get(), "one more", "v"));
  EXPECT_TRUE(SetKey(annotations_.get(), "63", "replaced"));
  EXPECT_TRUE(SetKey(annotations_.get(), "0", nullptr));
  EXPECT_TRUE(SetKey(annotations_.get(), "one more", "v"));
  EXPECT_EQ(Written().keys.size(), 64u);
}

// cairn.h: names of 63 and values of 255 bytes.
TEST_F(AnnotationsTest, LongNamesAndValuesAreCut) {
  const std::string name(100, 'n'), value(300, 'v');
  EXPECT_TRUE(SetKey(annotations_.get(), name.c_str(), value.c_str()));
  const report::Report report = Written();
  ASSERT_EQ(report.keys.size(), 1u);
  EXPECT_EQ(report.keys[0].first, name.substr(0, 63));
  EXPECT_EQ(report.keys[0].second, value.substr(0, 255));
}

// cairn.h: the newest 64; messages of 191, categories of 31 bytes.
TEST_F(AnnotationsTest, NewestBreadcrumbsOldestFirst) {
  for (int i = 0; i < 150; ++i) {
    AddBreadcrumb(annotations_.get(), "c", std::to_string(i).c_str());
  }
  const report::Report report = Written();
  ASSERT_EQ(report.breadcrumbs.size(), 64u);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(report.breadcrumbs[i].message, std::to_string(86 + i));
    EXPECT_EQ(report.breadcrumbs[i].category, "c");
    if (i > 0) {
      EXPECT_GE(report.breadcrumbs[i].time_ns,
                report.breadcrumbs[i - 1].time_ns);
    }
  }
}

TEST_F(AnnotationsTest, LongBreadcrumbsAreCutAndTheCategoryMayBeMissing) {
  const std::string message(300, 'm'), category(50, 'c');
  AddBreadcrumb(annotations_.get(), category.c_str(), message.c_str());
  AddBreadcrumb(annotations_.get(), nullptr, "");
  const report::Report report = Written();
  ASSERT_EQ(report.breadcrumbs.size(), 2u);
  EXPECT_EQ(report.breadcrumbs[0].message, message.substr(0, 191));
  EXPECT_EQ(report.breadcrumbs[0].category, category.substr(0, 31));
  EXPECT_EQ(report.breadcrumbs[1].message, "");
  EXPECT_EQ(report.breadcrumbs[1].category, "");
}

// The thread that wrote it died in the middle.
TEST_F(AnnotationsTest, TornEntriesAreLeftOut) {
  SetKey(annotations_.get(), "whole", "1");
  SetKey(annotations_.get(), "torn", "2");
  AddBreadcrumb(annotations_.get(), nullptr, "torn");
  AddBreadcrumb(annotations_.get(), nullptr, "whole");
  ++annotations_->keys[1].sequence;
  ++annotations_->breadcrumbs[0].sequence;
  const report::Report report = Written();
  ASSERT_EQ(report.keys.size(), 1u);
  EXPECT_EQ(report.keys[0].first, "whole");
  ASSERT_EQ(report.breadcrumbs.size(), 1u);
  EXPECT_EQ(report.breadcrumbs[0].message, "whole");
}

TEST_F(AnnotationsTest, KeyBeingSetByAnotherThreadIsNotWaitedFor) {
  annotations_->busy = 1;
  EXPECT_FALSE(SetKey(annotations_.get(), "a", "1"));
}

// Stray writes of the app: every length still ends inside its field.
TEST_F(AnnotationsTest, OverwrittenLengthsAreHarmless) {
  auto* bytes = reinterpret_cast<uint8_t*>(annotations_.get());
  for (size_t i = 0; i < sizeof(Annotations); ++i) {
    bytes[i] = 0xfe;  // even: no entry looks torn
  }
  annotations_->breadcrumb_count = 70;
  const report::Report report = Written();
  EXPECT_EQ(report.keys.size(), 64u);
  EXPECT_EQ(report.breadcrumbs.size(), 64u);
}

TEST_F(AnnotationsTest, ThreadsSetTheirKeysWithoutMixing) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      const std::string name(1 + i, static_cast<char>('a' + i));
      for (int round = 0; round < 2000; ++round) {
        while (!SetKey(annotations_.get(), name.c_str(), name.c_str())) {
        }
        AddBreadcrumb(annotations_.get(), nullptr, name.c_str());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const report::Report report = Written();
  ASSERT_EQ(report.keys.size(), 8u);
  for (const auto& [name, value] : report.keys) {
    EXPECT_EQ(name, value);
    EXPECT_EQ(name, std::string(name.size(), name[0]));
  }
}

}  // namespace
}  // namespace cairn::writer
