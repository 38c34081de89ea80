// SPDX-License-Identifier: Apache-2.0
//
// Registers of threads, each stored as the difference from the thread before.
#ifndef CAIRN_REPORT_REGISTER_CHAIN_H_
#define CAIRN_REPORT_REGISTER_CHAIN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cairn::report {

class RegisterChain {
 public:
  // Decodes the next thread's payload (format::Field::kThreadRegisters) in file
  // order. False when it is cut: what came before the cut is there.
  bool Next(const uint8_t* payload,
            size_t bytes,
            std::vector<std::pair<uint32_t, uint64_t>>* registers);

 private:
  static constexpr uint32_t kMaskBits = 64;
  // The values last seen; a register that a thread lacks keeps the one before.
  std::array<uint64_t, kMaskBits> values_{};
};

}  // namespace cairn::report

#endif  // CAIRN_REPORT_REGISTER_CHAIN_H_
