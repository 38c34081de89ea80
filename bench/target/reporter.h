// SPDX-License-Identifier: Apache-2.0
//
// The crash reporter that a target is linked with: one body each.
#ifndef CAIRN_BENCH_TARGET_REPORTER_H_
#define CAIRN_BENCH_TARGET_REPORTER_H_

#include "bench/target/page.h"

namespace cairn::bench {

// Starts it, with reports in `request.directory`. Null, or why it failed.
const char* StartReporter(const Request& request);

}  // namespace cairn::bench

#endif  // CAIRN_BENCH_TARGET_REPORTER_H_
