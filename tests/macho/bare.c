// SPDX-License-Identifier: Apache-2.0
//
// For targets without headers and linker here (i386, armv7): object files.
static int Hidden(int value, int* out) {
  *out = value * 3;
  return value + 1;
}

__attribute__((noinline)) int cairn_first(int value) {
  volatile int room[64];
  room[value & 63] = value;
  return room[(value + 1) & 63];
}

__attribute__((noinline)) int cairn_second(int value) {
  int kept = 0;
  int (*volatile call)(int, int*) = Hidden;
  return call(cairn_first(value), &kept) + kept;
}
