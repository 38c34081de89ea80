// SPDX-License-Identifier: Apache-2.0
//
// Address → the innermost of the ranges that hold it.
//
// Ordinary code. 24 bytes a range; a look-up is a binary search.
#ifndef CAIRN_SYMBOLICATE_RANGE_INDEX_H_
#define CAIRN_SYMBOLICATE_RANGE_INDEX_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace cairn::symbolicate {

class RangeIndex {
 public:
  struct Range {
    uint64_t low;
    uint32_t bytes, value;
    uint32_t parent;  // an earlier range that reaches over `low`
  };

  // Empty ranges are dropped, longer ones cut to 4 GiB.
  void Add(uint64_t low, uint64_t high, uint32_t value) {
    if (low < high) {
      const uint64_t bytes = std::min<uint64_t>(high - low, UINT32_MAX);
      ranges_.push_back({low, static_cast<uint32_t>(bytes), value, kNone});
    }
  }
  // After the last Add, before the first Find. Of equal ranges the one with the
  // highest value is the innermost.
  void Finish() {
    std::sort(
        ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
          return std::tie(a.low, b.bytes, a.value) <
                 std::tie(b.low, a.bytes, b.value);
        });
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < ranges_.size(); ++i) {
      while (!open.empty() && !Holds(open.back(), ranges_[i].low)) {
        open.pop_back();
      }
      ranges_[i].parent = open.empty() ? kNone : open.back();
      open.push_back(i);
    }
    ranges_.shrink_to_fit();
  }
  const Range* Find(uint64_t address) const {
    const auto after = std::upper_bound(
        ranges_.begin(),
        ranges_.end(),
        address,
        [](uint64_t at, const Range& range) { return at < range.low; });
    auto index = static_cast<uint32_t>(after - ranges_.begin()) - 1;
    for (int steps = 0; index != kNone && steps < kMaxSteps; ++steps) {
      if (Holds(index, address)) {
        return &ranges_[index];
      }
      index = ranges_[index].parent;
    }
    return nullptr;
  }
  bool empty() const { return ranges_.empty(); }
  size_t size() const { return ranges_.size(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr int kMaxSteps = 4096;
  bool Holds(uint32_t index, uint64_t address) const {
    const Range& range = ranges_[index];
    return address >= range.low && address - range.low < range.bytes;
  }
  std::vector<Range> ranges_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_RANGE_INDEX_H_
