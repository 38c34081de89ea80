// SPDX-License-Identifier: Apache-2.0
//
// Stacks as paths of a tree: equal outer ends of stacks are stored once.
//
// Crash time: yes. One user at a time. Storage is the caller's, zero at first,
// and only touched as far as it is used. When the nodes are used up stacks are
// still written, but no longer shared.
#ifndef CAIRN_WRITER_FRAME_TRIE_H_
#define CAIRN_WRITER_FRAME_TRIE_H_

#include <cstddef>
#include <cstdint>

#include "capture/image_table.h"
#include "capture/unwinder.h"

namespace cairn::writer {

struct TrieNode {
  uint32_t parent;  // 0: the root
  uint32_t image;   // image index + 1, 0: none
  uint64_t value;   // offset in the image, or the address
  uint32_t meta;    // trust | kind << 4
  uint32_t chain;   // next node of the same bucket, 0: none
};

class FrameTrie {
 public:
  // Node 0 is never used. `bucket_count` is a power of two.
  void Init(TrieNode* nodes,
            uint32_t node_capacity,
            uint32_t* buckets,
            uint32_t bucket_count);

  // Longest payload that `count` frames can need.
  static constexpr size_t PayloadBytes(size_t count) {
    return 10 + count * (5 + 10 + 2);
  }

  // Adds a stack, innermost frame first, and writes the payload of its
  // ThreadFrames record to `out` (room for PayloadBytes(count)). Returns its
  // length. If the record then finds no room in the report, call Undo: the
  // reader numbers nodes by what it reads.
  size_t Add(const capture::Frame* frames,
             size_t count,
             const capture::ImageTable& images,
             uint8_t* out);
  void Undo();

  uint32_t node_count() const { return next_ - 1; }

 private:
  uint32_t FindChild(const TrieNode& node) const;
  void Insert(uint32_t id, const TrieNode& node);

  TrieNode* nodes_;
  uint32_t capacity_;
  uint32_t* buckets_;
  uint32_t bucket_mask_;
  uint32_t next_;     // id of the next node
  uint32_t undo_to_;  // next_ before the last Add
};

}  // namespace cairn::writer

#endif  // CAIRN_WRITER_FRAME_TRIE_H_
