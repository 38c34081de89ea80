// SPDX-License-Identifier: Apache-2.0
#include "safe/crc32c.h"

namespace cairn::safe {
namespace {

struct Tables {
  uint32_t of[8][256];
};

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
    }
    tables.of[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (int slice = 1; slice < 8; ++slice) {
      const uint32_t previous = tables.of[slice - 1][i];
      tables.of[slice][i] = (previous >> 8) ^ tables.of[0][previous & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint32_t LoadLittleEndian(const uint8_t* data) {
  return static_cast<uint32_t>(data[0]) | static_cast<uint32_t>(data[1]) << 8 |
         static_cast<uint32_t>(data[2]) << 16 |
         static_cast<uint32_t>(data[3]) << 24;
}

}  // namespace

uint32_t Crc32c(uint32_t crc, const void* data, size_t bytes) {
  const auto* next = static_cast<const uint8_t*>(data);
  crc = ~crc;
  for (; bytes >= 8; bytes -= 8, next += 8) {
    const uint32_t low = LoadLittleEndian(next) ^ crc;
    const uint32_t high = LoadLittleEndian(next + 4);
    crc = kTables.of[7][low & 0xff] ^ kTables.of[6][(low >> 8) & 0xff] ^
          kTables.of[5][(low >> 16) & 0xff] ^ kTables.of[4][low >> 24] ^
          kTables.of[3][high & 0xff] ^ kTables.of[2][(high >> 8) & 0xff] ^
          kTables.of[1][(high >> 16) & 0xff] ^ kTables.of[0][high >> 24];
  }
  for (; bytes > 0; --bytes) {
    crc = (crc >> 8) ^ kTables.of[0][(crc ^ *next++) & 0xff];
  }
  return ~crc;
}

}  // namespace cairn::safe
