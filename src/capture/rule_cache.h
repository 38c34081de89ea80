// SPDX-License-Identifier: Apache-2.0
//
// Call frame rows in the form that nearly all have: CFA = register + offset,
// registers saved at fixed distances from it.
//
// Crash time: yes.
#ifndef CAIRN_CAPTURE_RULE_CACHE_H_
#define CAIRN_CAPTURE_RULE_CACHE_H_

#include <cstddef>
#include <cstdint>

#include "capture/unwinder.h"

namespace cairn::capture {

// Callee-saved registers and the return address, of any architecture.
inline constexpr size_t kMaxSavedRegisters = 12;
inline constexpr size_t kCachedRules = 1024;
// The reach of all saved registers of one rule, bytes.
inline constexpr int32_t kMaxSavedSpan = 256;

struct CompiledRule {
  uint64_t lookup_address;  // 0: empty
  int32_t cfa_offset;
  int32_t lowest_offset;  // of all saved ones
  int32_t span;           // bytes from there to behind the highest
  uint8_t cfa_register;
  uint8_t return_register;  // column; among the saved ones unless `outermost`
  uint8_t saved_count;
  bool outermost;  // the return address is undefined
  uint64_t kept;   // bit i: register i stays as it is
  uint8_t saved_register[kMaxSavedRegisters];
  int32_t saved_offset[kMaxSavedRegisters];
};

struct RuleCache {
  CompiledRule rules[kCachedRules];

  CompiledRule* Place(uint64_t lookup_address) {
    return &rules[(lookup_address * 0x9e3779b97f4a7c15u) >> 54];
  }
};
static_assert(kCachedRules == 1u << 10);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_RULE_CACHE_H_
