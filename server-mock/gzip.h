// SPDX-License-Identifier: Apache-2.0
//
// A request body as sent → the report's bytes.
//
// Any thread. The input is hostile: output and memory are bounded by
// `max_bytes`, and inflating stops the moment that it is passed.
#ifndef CAIRN_SERVER_GZIP_H_
#define CAIRN_SERVER_GZIP_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::server {

enum class InflateStatus {
  kOk,
  kTooLarge,   // the content is larger than `max_bytes`
  kTruncated,  // the stream ends before its own end mark
  kBroken,     // not gzip, a wrong checksum, or bytes behind the end
  kNoMemory,
};

// Inflates exactly one gzip member (RFC 1952) from `body` into `out`, which is
// replaced. On any status but kOk `out` is empty.
InflateStatus Inflate(std::string_view body,
                      size_t max_bytes,
                      std::string* out);

}  // namespace cairn::server

#endif  // CAIRN_SERVER_GZIP_H_
