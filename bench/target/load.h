// SPDX-License-Identifier: Apache-2.0
//
// What a target carries when it crashes: parked threads, loaded libraries.
#ifndef CAIRN_BENCH_TARGET_LOAD_H_
#define CAIRN_BENCH_TARGET_LOAD_H_

#include "bench/target/page.h"

namespace cairn::bench {

// Both: null, or why it failed.
const char* LoadLibraries(const Request& request);
// Returns when every thread is parked, `request.frames` deep.
const char* StartThreads(const Request& request);

// Writes to address 0x18, `request.frames` deep, the time noted just before.
void Fault(const Request& request, Answer* answer);

}  // namespace cairn::bench

#endif  // CAIRN_BENCH_TARGET_LOAD_H_
