// SPDX-License-Identifier: Apache-2.0
#include "writer/frame_trie.h"

#include "format/varint.h"

namespace cairn::writer {
namespace {

uint32_t Hash(const TrieNode& node) {
  uint64_t h = node.value * 0x9e3779b97f4a7c15u;
  h ^= (static_cast<uint64_t>(node.parent) << 32 | node.image) *
       0xc2b2ae3d27d4eb4fu;
  h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  return static_cast<uint32_t>(h >> 32) ^ node.meta;
}

bool Same(const TrieNode& left, const TrieNode& right) {
  return left.parent == right.parent && left.image == right.image &&
         left.value == right.value && left.meta == right.meta;
}

TrieNode NodeOf(const capture::Frame& frame,
                const capture::ImageTable& images) {
  // A return address may point just behind its image's last byte: the image is
  // that of the call.
  const uint64_t lookup = frame.kind == format::FrameKind::kReturn
                              ? frame.address - 1
                              : frame.address;
  const uint32_t image = images.Find(lookup);
  TrieNode node{};
  node.image = image == capture::kNoImage ? 0 : image + 1;
  node.value = node.image == 0 ? frame.address
                               : frame.address - images.at(image).address;
  node.meta = static_cast<uint32_t>(frame.trust) |
              static_cast<uint32_t>(frame.kind) << 4;
  return node;
}

}  // namespace

void FrameTrie::Init(TrieNode* nodes,
                     uint32_t node_capacity,
                     uint32_t* buckets,
                     uint32_t bucket_count) {
  nodes_ = nodes;
  capacity_ = node_capacity;
  buckets_ = buckets;
  bucket_mask_ = bucket_count - 1;
  next_ = undo_to_ = 1;
}

uint32_t FrameTrie::FindChild(const TrieNode& node) const {
  uint32_t id = buckets_[Hash(node) & bucket_mask_];
  // The bound holds against a table that a stray write has turned into a ring.
  for (int steps = 0; id != 0 && id < capacity_ && steps < 256; ++steps) {
    if (Same(nodes_[id], node)) {
      return id;
    }
    id = nodes_[id].chain;
  }
  return 0;
}

void FrameTrie::Insert(uint32_t id, const TrieNode& node) {
  if (id >= capacity_) {
    return;
  }
  uint32_t* bucket = &buckets_[Hash(node) & bucket_mask_];
  nodes_[id] = node;
  nodes_[id].chain = *bucket;
  *bucket = id;
}

size_t FrameTrie::Add(const capture::Frame* frames,
                      size_t count,
                      const capture::ImageTable& images,
                      uint8_t* out) {
  undo_to_ = next_;
  uint32_t shared = 0;
  size_t left = count;
  TrieNode node{};
  for (; left > 0; --left) {
    node = NodeOf(frames[left - 1], images);
    node.parent = shared;
    const uint32_t found = FindChild(node);
    if (found == 0) {
      break;
    }
    shared = found;
  }
  size_t bytes = format::PutVarint(out, shared);
  uint32_t parent = shared;
  for (; left > 0; --left) {
    node = NodeOf(frames[left - 1], images);
    node.parent = parent;
    bytes += format::PutVarint(out + bytes, node.image);
    bytes += format::PutVarint(out + bytes, node.value);
    bytes += format::PutVarint(out + bytes, node.meta);
    parent = next_++;
    Insert(parent, node);
  }
  return bytes;
}

void FrameTrie::Undo() {
  while (next_ > undo_to_) {
    --next_;
    if (next_ < capacity_) {
      // The newest node heads its bucket.
      buckets_[Hash(nodes_[next_]) & bucket_mask_] = nodes_[next_].chain;
    }
  }
}

}  // namespace cairn::writer
