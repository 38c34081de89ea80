// SPDX-License-Identifier: Apache-2.0
//
// How many reports one sender may put in a minute: a bucket of tokens for each,
// refilled evenly.
//
// Any thread. Memory is bounded: at most kMaxSenders buckets are kept, and full
// ones, which say nothing, are dropped first.
#ifndef CAIRN_SERVER_RATE_LIMIT_H_
#define CAIRN_SERVER_RATE_LIMIT_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace cairn::server {

class RateLimit {
 public:
  static constexpr size_t kMaxSenders = 10000;

  // 0 a minute: no limit.
  explicit RateLimit(uint32_t per_minute) : per_minute_(per_minute) {}

  // Takes one token of `sender` at `now_ms` (a clock that never goes back).
  // Returns 0, or the seconds after which it is worth trying again.
  uint32_t Take(const std::string& sender, uint64_t now_ms);

 private:
  struct Bucket {
    double tokens = 0;
    uint64_t at_ms = 0;
  };
  double TokensAt(const Bucket& bucket, uint64_t now_ms) const;
  void DropFull(uint64_t now_ms);

  const uint32_t per_minute_;
  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace cairn::server

#endif  // CAIRN_SERVER_RATE_LIMIT_H_
