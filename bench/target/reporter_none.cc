// SPDX-License-Identifier: Apache-2.0
#include "bench/target/reporter.h"

namespace cairn::bench {

const char* StartReporter(const Request& /*request*/) {
  return nullptr;
}

}  // namespace cairn::bench
