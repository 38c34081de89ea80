// SPDX-License-Identifier: Apache-2.0
//
// Calls that a compiler inlines, in a header of their own.
#ifndef CAIRN_SYMBOLICATE_TESTDATA_INLINED_H_
#define CAIRN_SYMBOLICATE_TESTDATA_INLINED_H_

namespace shop {

inline __attribute__((always_inline)) int Deepest(volatile int* at, int value) {
  *at = value;
  return *at * 3;
}

template <typename Value>
__attribute__((always_inline)) inline Value Middle(volatile int* at,
                                                   Value value) {
  Value sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int twice = Deepest(at, static_cast<int>(value) + i);
    sum += twice;
  }
  return sum;
}

struct Till {
  volatile int drawer = 0;
  int Add(int value);
  int Count() { return Middle(&drawer, 5) + Deepest(&drawer, 7); }
};

int More(int value);

}  // namespace shop

#endif  // CAIRN_SYMBOLICATE_TESTDATA_INLINED_H_
