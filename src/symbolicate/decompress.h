// SPDX-License-Identifier: Apache-2.0
//
// zlib, zstd and xz, from the libraries of the system, loaded at first use.
//
// Ordinary code, any thread. Input is hostile: output never grows beyond what
// the caller says.
#ifndef CAIRN_SYMBOLICATE_DECOMPRESS_H_
#define CAIRN_SYMBOLICATE_DECOMPRESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cairn::symbolicate {

// Exactly `bytes` of output; nullopt when the input is damaged, gives another
// length, or the library is not on this machine.
std::optional<std::vector<uint8_t>> InflateZlib(const uint8_t* data,
                                                size_t data_bytes,
                                                size_t bytes);
std::optional<std::vector<uint8_t>> InflateZstd(const uint8_t* data,
                                                size_t data_bytes,
                                                size_t bytes);
// The length is not told beforehand; at most `limit` bytes.
std::optional<std::vector<uint8_t>> InflateXz(const uint8_t* data,
                                              size_t data_bytes,
                                              size_t limit);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DECOMPRESS_H_
