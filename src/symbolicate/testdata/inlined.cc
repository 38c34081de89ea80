// SPDX-License-Identifier: Apache-2.0
//
// A program full of inlined calls; see dwarf_oracle_test.cc.
#include <algorithm>
#include <string>
#include <vector>

#include "inlined.h"

namespace shop {

__attribute__((noinline)) int Till::Add(int value) {
  if (value > 100) {
    const auto twice = [this](int more) { return Deepest(&drawer, more) * 2; };
    return twice(value) + Middle(&drawer, long{7} + value > 9 ? 1 : 2);
  }
  return Count();
}

__attribute__((noinline)) int Unused(int value) {
  volatile int place = value;
  return Middle(&place, value);
}

}  // namespace shop

int main(int count, char** words) {
  std::vector<std::string> all(words, words + count);
  std::sort(all.begin(), all.end());
  shop::Till till;
  int sum = 0;
  for (const std::string& word : all) {
    sum += till.Add(static_cast<int>(word.size())) + shop::More(sum);
  }
  return sum & 1;
}
