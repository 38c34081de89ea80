// SPDX-License-Identifier: Apache-2.0
#include "bench/target/reporter.h"
#include "cairn/cairn.h"

namespace cairn::bench {

const char* StartReporter(const Request& request) {
  cairn_config config;
  cairn_config_init(&config);
  config.directory = request.directory;
  config.app_id = "org.example.bench";
  config.app_version = "1";
  config.no_stack_bytes = request.no_stack_bytes != 0 ? 1 : 0;
  const cairn_status status = cairn_install(&config);
  return status == CAIRN_OK ? nullptr : cairn_status_text(status);
}

}  // namespace cairn::bench
