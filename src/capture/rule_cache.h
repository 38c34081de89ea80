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

// Rules by look-up address, kWays in each set; a new one takes the place of
// another of its set.
inline constexpr size_t kWays = 4;
template <unsigned kSetBits>
struct RuleSets {
  CompiledRule rules[size_t{1} << kSetBits][kWays];

  const CompiledRule* Find(uint64_t lookup_address) const {
    for (const CompiledRule& rule : rules[Set(lookup_address)]) {
      if (rule.lookup_address == lookup_address) {
        return lookup_address == 0 ? nullptr : &rule;
      }
    }
    return nullptr;
  }
  void Add(const CompiledRule& rule) {
    CompiledRule(&set)[kWays] = rules[Set(rule.lookup_address)];
    for (CompiledRule& old : set) {
      if (old.lookup_address == 0) {
        old = rule;
        return;
      }
    }
    set[rule.lookup_address % kWays] = rule;
  }
  static size_t Set(uint64_t lookup_address) {
    if constexpr (kSetBits == 0) {
      return 0;
    } else {
      return (lookup_address * 0x9e3779b97f4a7c15u) >> (64 - kSetBits);
    }
  }
};

struct RuleCache {
  RuleSets<8> sets;
};
// What a walk without a cache keeps for itself: recursion repeats a few
// addresses.
using RecentRules = RuleSets<0>;

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_RULE_CACHE_H_
