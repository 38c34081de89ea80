// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/vdso.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>

namespace cairn::symbolicate {
namespace {

constexpr uint64_t kMaxVdsoBytes = 1u << 20;

}  // namespace

// /proc/self/maps knows its length, which the auxiliary vector does not.
std::shared_ptr<const ByteSource> OwnVdso() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with("[vdso]")) {
      continue;
    }
    uint64_t start = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &start, &end) != 2 ||
        end <= start || end - start > kMaxVdsoBytes) {
      return nullptr;
    }
    // The kernel keeps these pages readable for the life of the process.
    const auto* bytes =
        reinterpret_cast<const uint8_t*>(static_cast<uintptr_t>(start));
    return MemorySource({bytes, bytes + (end - start)});
  }
  return nullptr;
}

}  // namespace cairn::symbolicate
