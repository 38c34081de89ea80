// SPDX-License-Identifier: Apache-2.0
//
// gzip, with the system's zlib, loaded at first use: a program that never sends
// a report does not pay for it.
#ifndef CAIRN_UPLOAD_GZIP_H_
#define CAIRN_UPLOAD_GZIP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cairn::upload {

// nullopt where there is no zlib; the bytes then go out as they are.
std::optional<std::vector<uint8_t>> Gzip(const uint8_t* data, size_t bytes);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_GZIP_H_
