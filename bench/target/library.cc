// SPDX-License-Identifier: Apache-2.0
//
// A small library with code, data and relocations, of which the benchmarks load
// many copies.
namespace {
int g_value = 1;
int* g_pointer = &g_value;
}  // namespace

extern "C" __attribute__((visibility("default"))) int cairn_bench_library(
    int add) {
  *g_pointer += add;
  return g_value;
}
