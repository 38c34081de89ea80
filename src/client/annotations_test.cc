// SPDX-License-Identifier: Apache-2.0
//
// The C API's keys and breadcrumbs: what it answers, and where they go.
#include "writer/annotations.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cairn/cairn.h"
#include "handlers/crash_base.h"
#include "handlers/zeroed_state.h"

namespace cairn::client {
namespace {

class ApiAnnotations : public testing::Test {
 protected:
  ApiAnnotations() {
    base_->annotations = annotations_.get();
    handlers::SetBase(base_.get());
  }
  ~ApiAnnotations() override { handlers::SetBase(nullptr); }

  const handlers::Zeroed<handlers::CrashBase> base_;
  const std::unique_ptr<writer::Annotations> annotations_ =
      std::make_unique<writer::Annotations>();
};

TEST(ApiAnnotationsBefore, InstallEverythingIsRefused) {
  EXPECT_EQ(cairn_set_key("a", "b"), CAIRN_NOT_INSTALLED);
  EXPECT_EQ(cairn_add_breadcrumb("a", "b"), CAIRN_NOT_INSTALLED);
}

TEST_F(ApiAnnotations, KeysGoWhereTheCrashReadsThem) {
  EXPECT_EQ(cairn_set_key("user", "blue"), CAIRN_OK);
  const writer::KeyEntry& key = annotations_->keys[0];
  EXPECT_EQ(key.used, 1);
  EXPECT_EQ(std::string(key.name, key.name_bytes), "user");
  EXPECT_EQ(std::string(key.value, key.value_bytes), "blue");
  EXPECT_EQ(key.sequence % 2, 0u);
  EXPECT_EQ(cairn_set_key("user", nullptr), CAIRN_OK);
  EXPECT_EQ(key.used, 0);
  EXPECT_EQ(cairn_set_key("never set", nullptr), CAIRN_OK);
}

TEST_F(ApiAnnotations, NamesAreNeeded) {
  EXPECT_EQ(cairn_set_key(nullptr, "b"), CAIRN_BAD_CONFIG);
  EXPECT_EQ(cairn_set_key("", "b"), CAIRN_BAD_CONFIG);
  EXPECT_EQ(cairn_add_breadcrumb("a", nullptr), CAIRN_BAD_CONFIG);
  EXPECT_EQ(annotations_->breadcrumb_count, 0u);
}

TEST_F(ApiAnnotations, FullTableIsALimit) {
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(cairn_set_key(std::to_string(i).c_str(), "v"), CAIRN_OK);
  }
  EXPECT_EQ(cairn_set_key("one more", "v"), CAIRN_LIMIT);
}

// A thread that died while it set a key: nobody waits for it.
TEST_F(ApiAnnotations, SetterThatNeverEndsIsALimit) {
  annotations_->busy = 1;
  EXPECT_EQ(cairn_set_key("a", "b"), CAIRN_LIMIT);
}

TEST_F(ApiAnnotations, BreadcrumbsGoWhereTheCrashReadsThem) {
  EXPECT_EQ(cairn_add_breadcrumb("net", "sent"), CAIRN_OK);
  EXPECT_EQ(cairn_add_breadcrumb(nullptr, "got"), CAIRN_OK);
  EXPECT_EQ(annotations_->breadcrumb_count, 2u);
  const writer::BreadcrumbEntry& first = annotations_->breadcrumbs[0];
  EXPECT_EQ(std::string(first.category, first.category_bytes), "net");
  EXPECT_EQ(std::string(first.message, first.message_bytes), "sent");
  EXPECT_GT(first.time_ns, 1'600'000'000'000'000'000u);
  EXPECT_EQ(annotations_->breadcrumbs[1].category_bytes, 0);
}

}  // namespace
}  // namespace cairn::client
