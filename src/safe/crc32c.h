// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli; polynomial 0x1EDC6F41 reflected, RFC 3720 section 12.1),
// the report's checksum.
//
// Crash time: yes. The table is constant; no processor feature is assumed.
#ifndef CAIRN_SAFE_CRC32C_H_
#define CAIRN_SAFE_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace cairn::safe {

// The checksum of `bytes` of data that follow data with checksum `crc` (0 at
// first).
uint32_t Crc32c(uint32_t crc, const void* data, size_t bytes);

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_CRC32C_H_
