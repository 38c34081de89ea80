// SPDX-License-Identifier: Apache-2.0
#include "capture/image_table.h"

namespace cairn::capture {
namespace {

// The segment of `image` that holds `address`, or null.
const ImageSegment* SegmentAt(const Image& image, uint64_t address) {
  if (address - image.address >= image.bytes) {
    return nullptr;
  }
  for (uint32_t i = 0; i < image.segment_count && i < kMaxImageSegments; ++i) {
    if (address - image.segments[i].address < image.segments[i].bytes) {
      return &image.segments[i];
    }
  }
  return nullptr;
}

bool IsUnloaded(const Image& image) {
  return __atomic_load_n(&image.unloaded, __ATOMIC_ACQUIRE) != 0;
}

// Shell's sort with Ciura's gaps: no recursion, no extra memory, and mapping
// order, which is mostly descending, does it no harm.
template <typename Entry>
void SortByAddress(Entry* entries, uint32_t count) {
  constexpr uint32_t kGaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
  for (const uint32_t gap : kGaps) {
    for (uint32_t i = gap; i < count; ++i) {
      const Entry moved = entries[i];
      uint32_t at = i;
      for (; at >= gap && entries[at - gap].low > moved.low; at -= gap) {
        entries[at] = entries[at - gap];
      }
      entries[at] = moved;
    }
  }
}

}  // namespace

void ImageTable::Init(Image* storage, uint32_t capacity) {
  storage_ = storage;
  capacity_ = capacity;
}

uint32_t ImageTable::Append(const Image& image) {
  const uint32_t index = count_;
  if (index >= capacity_) {
    __atomic_fetch_add(&dropped_, 1, __ATOMIC_RELAXED);
    return kNoImage;
  }
  storage_[index] = image;
  __atomic_store_n(&count_, index + 1, __ATOMIC_RELEASE);
  return index;
}

void ImageTable::MarkUnloaded(uint32_t index) {
  if (index < count_ && !IsUnloaded(storage_[index])) {
    __atomic_store_n(&storage_[index].unloaded, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&unloaded_, 1, __ATOMIC_RELEASE);
  }
}

bool ImageTable::FillIndex(Index* index) const {
  index->entries = 0;
  index->images = count_;
  for (uint32_t i = 0; i < count_; ++i) {
    const Image& image = storage_[i];
    if (IsUnloaded(image)) {
      continue;
    }
    for (uint32_t s = 0; s < image.segment_count && s < kMaxImageSegments;
         ++s) {
      if (index->entries == kMaxIndexedSegments) {
        return false;
      }
      const ImageSegment& segment = image.segments[s];
      index->entry[index->entries++] = {
          segment.address, segment.address + segment.bytes, i, segment.flags};
    }
  }
  SortByAddress(index->entry, index->entries);
  for (uint32_t e = 1; e < index->entries; ++e) {
    if (index->entry[e].low < index->entry[e - 1].high) {
      return false;
    }
  }
  return true;
}

void ImageTable::Reindex() {
  const uint32_t next = generation_ + 1;
  Index* index = &index_[next & 1];
  index->usable = FillIndex(index) ? 1 : 0;
  __atomic_store_n(&generation_, next, __ATOMIC_RELEASE);
}

ImageTable::Found ImageTable::FindLinear(uint64_t address,
                                         uint32_t from,
                                         bool unloaded) const {
  for (uint32_t i = count(); i > from;) {
    const Image& image = storage_[--i];
    if (IsUnloaded(image) != unloaded) {
      continue;
    }
    if (const ImageSegment* segment = SegmentAt(image, address)) {
      return {i, segment->flags};
    }
  }
  return {};
}

// False when the index cannot answer: none, unusable, or replaced meanwhile.
bool ImageTable::SearchIndex(uint64_t address, Found* found) const {
  const uint32_t generation = __atomic_load_n(&generation_, __ATOMIC_ACQUIRE);
  if (generation == 0) {
    return false;
  }
  const Index& index = index_[generation & 1];
  *found = FindLinear(address, index.images, false);  // younger than the index
  uint32_t low = 0;
  uint32_t high = index.entries;
  if (index.usable == 0 || high > kMaxIndexedSegments) {
    return false;
  }
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (index.entry[middle].high <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (found->image == kNoImage && low < index.entries &&
      low < kMaxIndexedSegments && index.entry[low].low <= address) {
    *found = {index.entry[low].image, index.entry[low].flags};
  }
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  // While the number stands, the writer writes at most the other index.
  return __atomic_load_n(&generation_, __ATOMIC_RELAXED) == generation;
}

ImageTable::Found ImageTable::FindSegment(uint64_t address) const {
  Found found;
  // An indexed image may have gone since: then another may hold the address.
  if (SearchIndex(address, &found) &&
      (found.image == kNoImage || !IsUnloaded(storage_[found.image]))) {
    return found;
  }
  return FindLinear(address, 0, false);
}

uint32_t ImageTable::Find(uint64_t address) const {
  const Found found = FindSegment(address);
  if (found.image != kNoImage ||
      __atomic_load_n(&unloaded_, __ATOMIC_ACQUIRE) == 0) {
    return found.image;
  }
  return FindLinear(address, 0, true).image;
}

}  // namespace cairn::capture
