// SPDX-License-Identifier: Apache-2.0
#include "rate_limit.h"

#include <algorithm>
#include <cmath>

namespace cairn::server {

double RateLimit::TokensAt(const Bucket& bucket, uint64_t now_ms) const {
  double gained =
      static_cast<double>(now_ms - bucket.at_ms) * per_minute_ / 60000.0;
  return std::min<double>(per_minute_, bucket.tokens + gained);
}

void RateLimit::DropFull(uint64_t now_ms) {
  std::erase_if(buckets_, [&](const auto& entry) {
    return TokensAt(entry.second, now_ms) >= per_minute_;
  });
  if (buckets_.size() >= kMaxSenders) {
    buckets_.clear();
  }
}

uint32_t RateLimit::Take(const std::string& sender, uint64_t now_ms) {
  if (per_minute_ == 0) {
    return 0;
  }
  std::lock_guard lock(mutex_);
  if (buckets_.size() >= kMaxSenders && !buckets_.contains(sender)) {
    DropFull(now_ms);
  }
  auto [entry, is_new] = buckets_.try_emplace(
      sender, Bucket{static_cast<double>(per_minute_), now_ms});
  Bucket& bucket = entry->second;
  bucket = {TokensAt(bucket, now_ms), now_ms};
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return 0;
  }
  double seconds = (1 - bucket.tokens) * 60.0 / per_minute_;
  return std::max<uint32_t>(1, static_cast<uint32_t>(std::ceil(seconds)));
}

}  // namespace cairn::server
