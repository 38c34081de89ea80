// SPDX-License-Identifier: Apache-2.0
//
// The tree of frames that stacks are stored in: equal tails once.
//
// A stack's payload (format::Field::kThreadFrames) is the node it shares with
// an earlier stack, 0 for none, then its new nodes, outermost first. Nodes are
// numbered from 1 over the whole file. A node's parent was always there before
// it, so walks towards the root end.
//
// Ordinary code. Hostile input: at most kMaxNodes nodes are kept, a path is at
// most kMaxThreadFrames long, all paths together kMaxReportFrames.
#ifndef CAIRN_REPORT_FRAME_TRIE_H_
#define CAIRN_REPORT_FRAME_TRIE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/report.h"

namespace cairn::report {

inline constexpr size_t kMaxThreadFrames = 4096;
inline constexpr size_t kMaxReportFrames = 2u << 20;
inline constexpr size_t kMaxNodes = 2u << 20;

class FrameTrie {
 public:
  enum class Add {
    kWhole,
    kCut,          // the last node is not whole
    kUnknownNode,  // the shared node was never written
    kTooMany,      // kMaxNodes reached
  };

  // Takes a stack's payload; `leaf` is its innermost node, 0 for no frames.
  // What is whole is taken for every result.
  Add AddStack(const uint8_t* payload, size_t bytes, uint32_t* leaf);

  enum class Expand {
    kWhole,
    kTooDeep,       // the path is longer than kMaxThreadFrames
    kTooMany,       // kMaxReportFrames reached
    kUnknownImage,  // a node names an image that is not in the report
  };
  // Appends the path from `leaf` to the root, innermost first.
  Expand AppendPath(uint32_t leaf,
                    const std::vector<Image>& images,
                    std::vector<Frame>* frames);

  uint32_t node_count() const { return static_cast<uint32_t>(nodes_.size()); }

 private:
  struct Node {
    uint64_t offset;  // in the image, or the address
    uint32_t parent;
    uint32_t image;  // index + 1, 0: none
    uint8_t trust_and_kind;
  };

  std::vector<Node> nodes_;  // node n is nodes_[n - 1]
  size_t expanded_ = 0;
};

}  // namespace cairn::report

#endif  // CAIRN_REPORT_FRAME_TRIE_H_
