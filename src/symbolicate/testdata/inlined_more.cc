// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "inlined.h"

namespace shop {

__attribute__((noinline)) int More(int value) {
  std::map<int, int> seen;
  volatile int place = 0;
  for (int i = 0; i < 4; ++i) {
    seen[Middle(&place, value)] += Deepest(&place, i);
  }
  return seen.begin()->second;
}

}  // namespace shop
