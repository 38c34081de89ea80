// SPDX-License-Identifier: Apache-2.0
#include "writer/record_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "safe/crc32c.h"

namespace cairn::writer {
namespace {

using format::Field;
using format::Kind;

TEST(RecordWriter, BytesOfARecordAreThoseOfTheFormat) {
  std::vector<uint8_t> buffer(64);
  RecordWriter writer(buffer.data(), 0, buffer.size(), nullptr);
  ASSERT_TRUE(writer.PutUnsigned(Field::kProcessId, 300));
  const std::vector<uint8_t> expected = {
      33, 0, static_cast<uint8_t>(Kind::kUnsigned), 2, 0xac, 0x02};
  EXPECT_EQ(std::vector<uint8_t>(buffer.begin(), buffer.begin() + 6), expected);
  EXPECT_EQ(writer.position(), 6u);
}

TEST(RecordWriter, GroupEndCarriesTheChecksumOfTheGroup) {
  std::vector<uint8_t> buffer(64);
  RecordWriter writer(buffer.data(), 0, buffer.size(), nullptr);
  {
    ScopedGroup group(&writer, Field::kApp);
    ASSERT_TRUE(group);
    writer.PutString(Field::kAppId, "x", 1);
  }
  const size_t body = writer.position() - 8;
  uint32_t stored = 0;
  std::memcpy(&stored, buffer.data() + writer.position() - 4, 4);
  EXPECT_EQ(stored, safe::Crc32c(0, buffer.data(), body));
}

TEST(RecordWriter, NeverPassesTheEndAndAlwaysHasRoomToClose) {
  for (size_t capacity = 0; capacity < 80; ++capacity) {
    std::vector<uint8_t> buffer(capacity + 16, 0xa5);
    RecordWriter writer(buffer.data(), 0, capacity, nullptr);
    {
      ScopedGroup outer(&writer, Field::kThread);
      writer.PutUnsigned(Field::kThreadId, 1234567);
      ScopedGroup inner(&writer, Field::kThreadStack);
      writer.PutBytes(Field::kThreadStackBytes, "0123456789abcdef", 16);
    }
    ASSERT_LE(writer.position(), capacity);
    ASSERT_EQ(writer.depth(), 0);
    for (size_t i = capacity; i < buffer.size(); ++i) {
      ASSERT_EQ(buffer[i], 0xa5) << capacity;
    }
  }
}

TEST(RecordWriter, FailedRecordChangesNothing) {
  std::vector<uint8_t> buffer(16);
  RecordWriter writer(buffer.data(), 0, buffer.size(), nullptr);
  EXPECT_FALSE(writer.PutString(Field::kAppId, "much longer than it", 19));
  EXPECT_EQ(writer.position(), 0u);
  EXPECT_EQ(writer.dropped(), 1u);
}

TEST(RecordWriter, DropGroupTakesItBack) {
  std::vector<uint8_t> buffer(64);
  RecordWriter writer(buffer.data(), 8, buffer.size(), nullptr);
  ASSERT_TRUE(writer.BeginGroup(Field::kThread));
  writer.PutUnsigned(Field::kThreadId, 1);
  writer.DropGroup();
  EXPECT_EQ(writer.position(), 8u);
  EXPECT_EQ(writer.depth(), 0);
}

TEST(RecordWriter, CommitPublishesThePosition) {
  std::vector<uint8_t> buffer(64);
  uint64_t committed = 0;
  RecordWriter writer(buffer.data(), 0, buffer.size(), &committed);
  writer.PutUnsigned(Field::kThreadId, 3);
  EXPECT_EQ(committed, 0u);
  writer.Commit();
  EXPECT_EQ(committed, writer.position());
}

TEST(RecordWriter, ReserveKeepsRoomForTheLastRecords) {
  std::vector<uint8_t> buffer(32);
  RecordWriter writer(buffer.data(), 0, buffer.size(), nullptr);
  writer.Reserve(24);
  EXPECT_FALSE(writer.PutString(Field::kAppId, "0123456789", 10));
  writer.Reserve(0);
  EXPECT_TRUE(writer.PutString(Field::kAppId, "0123456789", 10));
}

}  // namespace
}  // namespace cairn::writer
