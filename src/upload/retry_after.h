// SPDX-License-Identifier: Apache-2.0
//
// The Retry-After header (RFC 9110, 10.2.3): seconds or a date.
#ifndef CAIRN_UPLOAD_RETRY_AFTER_H_
#define CAIRN_UPLOAD_RETRY_AFTER_H_

#include <cstdint>
#include <string_view>

namespace cairn::upload {

// No server, and nobody in between, silences a client for longer.
inline constexpr int64_t kMaxRetryAfterSeconds = 24 * 3600;

// How long to wait, 0 … kMaxRetryAfterSeconds. 0 for anything that is neither:
// signs, fractions, other zones than GMT, dates that no calendar has.
int64_t ParseRetryAfter(std::string_view value, int64_t now_unix_seconds);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_RETRY_AFTER_H_
