// SPDX-License-Identifier: Apache-2.0
//
// The bytes are those of the structures that mig makes of exc.defs and
// mach_exc.defs, written down by hand.
#include "handlers/exception_message.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace cairn::handlers {
namespace {

class Bytes {
 public:
  Bytes& Word(uint32_t value) { return Add(&value, 4); }
  Bytes& Long(uint64_t value) { return Add(&value, 8); }
  const std::vector<uint8_t>& all() const { return bytes_; }

 private:
  Bytes& Add(const void* data, size_t count) {
    const auto* from = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), from, from + count);
    return *this;
  }
  std::vector<uint8_t> bytes_;
};

// mach_exception_raise of EXC_BAD_ACCESS at an address above 4 GiB.
std::vector<uint8_t> Raise() {
  return Bytes()
      .Word(0x80001200)
      .Word(84)
      .Word(0x50b)
      .Word(0x1203)
      .Word(0)
      .Word(2405)
      .Word(2)
      .Word(0x2303)
      .Word(0)
      .Word(0x00110000)
      .Word(0x103)
      .Word(0)
      .Word(0x00110000)
      .Word(0)
      .Word(1)
      .Word(1)
      .Word(2)
      .Long(1)
      .Long(0x7f0012345678)
      .all();
}

std::vector<uint8_t> Forwarded(const EarlierPort& earlier,
                               std::vector<uint32_t> state = {}) {
  const ExceptionFacts64 facts = {0x2303, 0x103, 1, 2, {1, 0x7f0012345678}};
  std::vector<uint8_t> out(kMaxMessageBytes);
  out.resize(EncodeForward(earlier,
                           facts,
                           0x909,
                           state.data(),
                           static_cast<uint32_t>(state.size()),
                           out.data()));
  return out;
}

TEST(ExceptionMessage, A4_12_SubcodeKeepsAllOfItsBits) {
  const std::vector<uint8_t> message = Raise();
  ASSERT_EQ(message.size(), 84u);
  ExceptionFacts64 facts;
  ASSERT_TRUE(DecodeRequest(message.data(), message.size(), &facts));
  EXPECT_EQ(facts.thread_port, 0x2303u);
  EXPECT_EQ(facts.task_port, 0x103u);
  EXPECT_EQ(facts.exception, 1);
  EXPECT_EQ(facts.codes[0], 1);
  EXPECT_EQ(facts.codes[1], 0x7f0012345678);
}

TEST(ExceptionMessage, EveryCutOfARequestIsRefused) {
  const std::vector<uint8_t> message = Raise();
  for (size_t bytes = 0; bytes < message.size(); ++bytes) {
    ExceptionFacts64 facts;
    EXPECT_FALSE(DecodeRequest(message.data(), bytes, &facts)) << bytes;
  }
}

TEST(ExceptionMessage, RequestOfAnotherKindIsRefused) {
  std::vector<uint8_t> message = Raise();
  const uint32_t other = 2406;
  std::memcpy(message.data() + 20, &other, 4);
  ExceptionFacts64 facts;
  EXPECT_FALSE(DecodeRequest(message.data(), message.size(), &facts));
}

TEST(ExceptionMessage, A1_6_ReplyGoesToTheRightThatTheRequestBrought) {
  const std::vector<uint8_t> message = Raise();
  MessageHeader header;
  ASSERT_TRUE(DecodeHeader(message.data(), message.size(), &header));
  std::vector<uint8_t> reply(kMaxReplyBytes);
  reply.resize(EncodeReply(header, kReplyFailure, reply.data()));
  EXPECT_EQ(reply,
            Bytes()
                .Word(0)
                .Word(36)
                .Word(0x50b)
                .Word(0)
                .Word(0)
                .Word(2505)
                .Word(0)
                .Word(1)
                .Word(5)
                .all());
}

TEST(ExceptionMessage, A1_6_DefaultBehaviourWith32BitCodes) {
  EXPECT_EQ(Forwarded({2, 0x1503, kBehaviorDefault, 0}),
            Bytes()
                .Word(0x80001513)
                .Word(76)
                .Word(0x1503)
                .Word(0x909)
                .Word(0)
                .Word(2401)
                .Word(2)
                .Word(0x2303)
                .Word(0)
                .Word(0x00130000)
                .Word(0x103)
                .Word(0)
                .Word(0x00130000)
                .Word(0)
                .Word(1)
                .Word(1)
                .Word(2)
                .Word(1)
                .Word(0x12345678)
                .all());
}

TEST(ExceptionMessage, A1_6_StateBehaviourCarriesNoPorts) {
  EXPECT_EQ(Forwarded({2, 0x1503, kBehavior64 | kBehaviorState, 4}, {7, 8}),
            Bytes()
                .Word(0x1513)
                .Word(72)
                .Word(0x1503)
                .Word(0x909)
                .Word(0)
                .Word(2406)
                .Word(0)
                .Word(1)
                .Word(1)
                .Word(2)
                .Long(1)
                .Long(0x7f0012345678)
                .Word(4)
                .Word(2)
                .Word(7)
                .Word(8)
                .all());
}

TEST(ExceptionMessage, A1_6_StateIdentityCarriesBoth) {
  const std::vector<uint8_t> message =
      Forwarded({2, 0x1503, kBehavior64 | kBehaviorStateIdentity, 6}, {9});
  EXPECT_EQ(message.size(), 84u + 8u + 4u);
  int32_t id = 0;
  std::memcpy(&id, message.data() + 20, 4);
  EXPECT_EQ(id, 2407);
}

TEST(ExceptionMessage, A1_9_BehaviourOfALaterSystemIsNotGuessed) {
  EXPECT_TRUE(Forwarded({2, 0x1503, kBehavior64 | 4, 0}).empty());
}

TEST(ExceptionMessage, AnswerWithAStateIsRead) {
  const EarlierPort earlier = {2, 0x1503, kBehavior64 | kBehaviorState, 4};
  const std::vector<uint8_t> answer = Bytes()
                                          .Word(18)
                                          .Word(52)
                                          .Word(0)
                                          .Word(0)
                                          .Word(0)
                                          .Word(2506)
                                          .Word(0)
                                          .Word(1)
                                          .Word(0)
                                          .Word(4)
                                          .Word(2)
                                          .Word(7)
                                          .Word(8)
                                          .all();
  ForwardAnswer out;
  ASSERT_TRUE(DecodeForwardAnswer(earlier, answer.data(), answer.size(), &out));
  EXPECT_EQ(out.result, 0);
  EXPECT_EQ(out.flavor, 4);
  ASSERT_EQ(out.state_words, 2u);
  EXPECT_EQ(out.state[4], 8);
  EXPECT_FALSE(
      DecodeForwardAnswer(earlier, answer.data(), answer.size() - 1, &out));
}

TEST(ExceptionMessage, AnswerOfAnErrorHasNoState) {
  const EarlierPort earlier = {2, 0x1503, kBehavior64 | kBehaviorState, 4};
  const std::vector<uint8_t> answer = Bytes()
                                          .Word(18)
                                          .Word(36)
                                          .Word(0)
                                          .Word(0)
                                          .Word(0)
                                          .Word(2506)
                                          .Word(0)
                                          .Word(1)
                                          .Word(5)
                                          .all();
  ForwardAnswer out;
  ASSERT_TRUE(DecodeForwardAnswer(earlier, answer.data(), answer.size(), &out));
  EXPECT_EQ(out.result, kReplyFailure);
}

}  // namespace
}  // namespace cairn::handlers
