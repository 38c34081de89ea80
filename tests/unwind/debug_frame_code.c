/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions whose unwind tables stand in .debug_frame alone: built without
 * -fasynchronous-unwind-tables, with -g, and without frame pointers.
 */
typedef void (*Callback)(void);

volatile long cairn_debug_frame_sink;

__attribute__((noinline)) long cairn_small(Callback callback) {
  callback();
  return cairn_debug_frame_sink + 1;
}

__attribute__((noinline)) long cairn_many_registers(Callback callback) {
  long a = cairn_debug_frame_sink, b = a * 3, c = b ^ a, d = c + b, e = d * a;
  long inner = cairn_small(callback);
  cairn_debug_frame_sink = a + b + c + d + e;
  return inner + 1;
}

__attribute__((noinline)) long cairn_large_frame(Callback callback) {
  volatile char room[600];
  room[cairn_debug_frame_sink & 255] = 1;
  long inner = cairn_many_registers(callback);
  return inner + room[cairn_debug_frame_sink & 255];
}

__attribute__((noinline)) long cairn_dynamic_frame(Callback callback, int n) {
  volatile char* room = __builtin_alloca(n);
  room[n - 1] = 1;
  long inner = cairn_large_frame(callback);
  return inner + room[n - 1];
}
