// SPDX-License-Identifier: Apache-2.0
#include "report/register_chain.h"

#include "report/varint_reader.h"

namespace cairn::report {

bool RegisterChain::Next(
    const uint8_t* payload,
    size_t bytes,
    std::vector<std::pair<uint32_t, uint64_t>>* registers) {
  VarintReader in(payload, bytes);
  uint64_t present = 0, changed = 0;
  if (!in.Next(&present) || !in.Next(&changed)) {
    return false;
  }
  registers->clear();
  for (uint32_t index = 0; index < kMaskBits; ++index) {
    const uint64_t bit = uint64_t{1} << index;
    uint64_t difference = 0;
    if ((changed & bit) != 0) {
      if (!in.Next(&difference)) {
        return false;
      }
      values_[index] += static_cast<uint64_t>(format::UnZigZag(difference));
    }
    if ((present & bit) != 0) {
      registers->emplace_back(index, values_[index]);
    }
  }
  return in.AtEnd();
}

}  // namespace cairn::report
