// SPDX-License-Identifier: Apache-2.0
//
// Payloads against the format's own words, and read back by the reader's trie.
#include "writer/frame_trie.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "report/frame_trie.h"

namespace cairn::writer {
namespace {

using capture::Frame;
using format::FrameKind;
using format::FrameTrust;
using Bytes = std::vector<uint8_t>;

constexpr uint64_t kImageLow = 0x10000;
constexpr uint64_t kImageBytes = 0x1000;

Frame At(uint64_t address,
         FrameKind kind = FrameKind::kReturn,
         FrameTrust trust = FrameTrust::kCfi) {
  Frame frame = {};
  frame.address = address;
  frame.kind = kind;
  frame.trust = trust;
  return frame;
}

// trust | kind << 4, as it stands in the file.
uint8_t Meta(FrameKind kind, FrameTrust trust) {
  return static_cast<uint8_t>(static_cast<int>(trust) | static_cast<int>(kind)
                                                            << 4);
}
const uint8_t kReturnMeta = Meta(FrameKind::kReturn, FrameTrust::kCfi);

class TrieTest : public testing::Test {
 protected:
  TrieTest() { Start(4096); }
  void Start(uint32_t capacity) {
    nodes_.assign(capacity, {});
    buckets_.assign(16, 0);
    trie_.Init(nodes_.data(), capacity, buckets_.data(), 16);
    images_ = std::make_unique<capture::ImageTable>();
    storage_.assign(1, {});
    images_->Init(storage_.data(), 1);
    capture::Image image = {};
    image.address = kImageLow;
    image.bytes = kImageBytes;
    image.segments[0] = {kImageLow, kImageBytes, capture::kSegmentExecute, 0};
    image.segment_count = 1;
    images_->Append(image);
  }
  Bytes Add(const std::vector<Frame>& stack) {
    Bytes payload(FrameTrie::PayloadBytes(stack.size()));
    payload.resize(
        trie_.Add(stack.data(), stack.size(), *images_, payload.data()));
    return payload;
  }

  std::vector<TrieNode> nodes_;
  std::vector<uint32_t> buckets_;
  std::vector<capture::Image> storage_;
  std::unique_ptr<capture::ImageTable> images_;
  FrameTrie trie_;
};

TEST_F(TrieTest, FirstStackIsAllNodesOutermostFirst) {
  const Bytes expected = {0,  // shared with none
                          1,
                          0x20,
                          kReturnMeta,  // image 0, offset 0x20
                          1,
                          0x10,
                          Meta(FrameKind::kFault, FrameTrust::kContext)};
  EXPECT_EQ(Add({At(kImageLow + 0x10, FrameKind::kFault, FrameTrust::kContext),
                 At(kImageLow + 0x20)}),
            expected);
  EXPECT_EQ(trie_.node_count(), 2u);
}

TEST_F(TrieTest, AddressOutsideOfImagesIsItself) {
  EXPECT_EQ(Add({At(0x7f)}), (Bytes{0, 0, 0x7f, kReturnMeta}));
}

TEST_F(TrieTest, EqualOuterEndIsNamedByItsNode) {
  Add({At(0x10), At(0x20), At(0x30)});  // nodes 3, 2, 1
  EXPECT_EQ(Add({At(0x11), At(0x20), At(0x30)}),
            (Bytes{2, 0, 0x11, kReturnMeta}));
  EXPECT_EQ(Add({At(0x10), At(0x20), At(0x30)}), (Bytes{3}));
  EXPECT_EQ(Add({At(0x30)}), (Bytes{1}));
  EXPECT_EQ(Add({}), (Bytes{0}));
  EXPECT_EQ(trie_.node_count(), 4u);
}

TEST_F(TrieTest, SameAddressFoundInAnotherWayIsAnotherNode) {
  Add({At(0x30)});
  EXPECT_EQ(Add({At(0x30, FrameKind::kReturn, FrameTrust::kScan)}).size(), 4u);
  EXPECT_EQ(Add({At(0x30, FrameKind::kFault)}).size(), 4u);
}

// A call that does not return may be an image's last instruction.
TEST_F(TrieTest, ReturnAddressBehindAnImageBelongsToTheCallsImage) {
  const uint64_t end = kImageLow + kImageBytes;
  EXPECT_EQ(Add({At(end)}), (Bytes{0, 1, 0x80, 0x20, kReturnMeta}));
  EXPECT_EQ(Add({At(end, FrameKind::kFault)})[1], 0);
}

TEST_F(TrieTest, UndoneStackWasNeverThere) {
  Add({At(0x20), At(0x30)});
  const Bytes taken_back = Add({At(0x10), At(0x11), At(0x30)});
  trie_.Undo();
  EXPECT_EQ(trie_.node_count(), 2u);
  EXPECT_EQ(Add({At(0x10), At(0x11), At(0x30)}), taken_back);
  trie_.Undo();
  EXPECT_EQ(Add({At(0x20), At(0x30)}), (Bytes{2}));
}

// What the reader makes of payloads is the stacks that went in.
class RoundTrip : public TrieTest,
                  public testing::WithParamInterface<uint32_t> {};

TEST_P(RoundTrip, RandomStacksComeBack) {
  Start(GetParam());
  std::mt19937_64 random(GetParam());
  report::FrameTrie reader;
  const std::vector<report::Image> images(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<Frame> stack(random() % 40);
    for (Frame& frame : stack) {
      // Few addresses, so that ends are shared; some in the image.
      frame = At(random() % 2 != 0 ? kImageLow + random() % 4 : random() % 4,
                 random() % 8 != 0 ? FrameKind::kReturn : FrameKind::kFault);
      frame.address += frame.kind == FrameKind::kReturn ? 1 : 0;
    }
    const Bytes payload = Add(stack);
    // A record that found no room: the reader never sees it.
    if (random() % 5 == 0) {
      trie_.Undo();
      continue;
    }
    uint32_t leaf = 0;
    ASSERT_EQ(reader.AddStack(payload.data(), payload.size(), &leaf),
              report::FrameTrie::Add::kWhole);
    std::vector<report::Frame> back;
    ASSERT_EQ(reader.AppendPath(leaf, images, &back),
              report::FrameTrie::Expand::kWhole);
    ASSERT_EQ(back.size(), stack.size());
    for (size_t k = 0; k < stack.size(); ++k) {
      const uint64_t base = back[k].image ? kImageLow : 0;
      EXPECT_EQ(base + (back[k].image ? back[k].image_offset : back[k].address),
                stack[k].address);
      EXPECT_EQ(back[k].kind, stack[k].kind);
      EXPECT_EQ(back[k].trust, stack[k].trust);
    }
    ASSERT_EQ(reader.node_count(), trie_.node_count());
  }
}

// 8 and 100: used up early, stacks are whole all the same.
INSTANTIATE_TEST_SUITE_P(Capacities, RoundTrip, testing::Values(8, 100, 65536));

TEST_F(TrieTest, RingOfNodesEnds) {
  Add({At(0x20)});
  for (TrieNode& node : nodes_) {
    node.chain = 1;
  }
  buckets_.assign(16, 1);
  EXPECT_EQ(Add({At(0x21)}).size(), 4u);
}

}  // namespace
}  // namespace cairn::writer
