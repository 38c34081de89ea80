// SPDX-License-Identifier: Apache-2.0
#include "report/frame_trie.h"

#include <algorithm>

#include "report/varint_reader.h"

namespace cairn::report {

FrameTrie::Add FrameTrie::AddStack(const uint8_t* payload,
                                   size_t bytes,
                                   uint32_t* leaf) {
  VarintReader in(payload, bytes);
  uint64_t shared = 0;
  *leaf = 0;
  if (!in.Next(&shared)) {
    return Add::kCut;
  }
  Add result = Add::kWhole;
  if (shared > nodes_.size()) {
    shared = 0;
    result = Add::kUnknownNode;
  }
  uint32_t parent = static_cast<uint32_t>(shared);
  uint64_t image = 0, offset = 0, how = 0;
  while (!in.AtEnd()) {
    if (!in.Next(&image) || !in.Next(&offset) || !in.Next(&how)) {
      result = Add::kCut;
      break;
    }
    if (nodes_.size() >= kMaxNodes) {
      result = Add::kTooMany;
      break;
    }
    nodes_.push_back({offset,
                      parent,
                      static_cast<uint32_t>(std::min<uint64_t>(image, ~0u)),
                      static_cast<uint8_t>(how)});
    parent = static_cast<uint32_t>(nodes_.size());
  }
  *leaf = parent;
  return result;
}

FrameTrie::Expand FrameTrie::AppendPath(uint32_t leaf,
                                        const std::vector<Image>& images,
                                        std::vector<Frame>* frames) {
  Expand result = Expand::kWhole;
  size_t depth = 0;
  for (uint32_t node = leaf; node != 0; node = nodes_[node - 1].parent) {
    if (++depth > kMaxThreadFrames) {
      return Expand::kTooDeep;
    }
    if (++expanded_ > kMaxReportFrames) {
      return Expand::kTooMany;
    }
    const Node& from = nodes_[node - 1];
    Frame frame;
    frame.node = node;
    frame.address = from.offset;
    frame.trust = static_cast<format::FrameTrust>(from.trust_and_kind & 15);
    frame.kind = static_cast<format::FrameKind>(from.trust_and_kind >> 4);
    if (from.image > 0 && from.image <= images.size()) {
      frame.image = from.image - 1;
      frame.image_offset = from.offset;
      frame.address = images[*frame.image].address + from.offset;
    } else if (from.image > 0) {
      result = Expand::kUnknownImage;
    }
    frames->push_back(std::move(frame));
  }
  return result;
}

}  // namespace cairn::report
