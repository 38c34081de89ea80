// SPDX-License-Identifier: Apache-2.0
//
// libcairn-preload.so: Cairn for programs that know nothing of it.
//
//   LD_PRELOAD=libcairn-preload.so CAIRN_DIRECTORY=/var/crash/me program
//
// Slots are made at the crash, so that the many short children of a shell leave
// nothing behind and pay next to nothing; nothing is sent and no thread is
// started unless CAIRN_UPLOAD_URL is set. The program never hears of it: no
// output, no exit code, no delay at exit. What keeps it from installing can be
// seen with CAIRN_VERBOSE=1.

#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "cairn/cairn.h"

namespace {

void Say(const char* text) {
  if (write(2, "cairn: ", 7) < 0 || write(2, text, std::strlen(text)) < 0 ||
      write(2, "\n", 1) < 0) {
    return;  // nobody listens
  }
}

bool IsSet(const char* variable) {
  const char* value = getenv(variable);
  return value != nullptr && value[0] != '\0';
}

__attribute__((constructor)) void InstallFromEnvironment() {
  if (!IsSet("CAIRN_DIRECTORY")) {
    return;
  }
  cairn_config config;
  cairn_config_init(&config);
  config.lazy_slots = 1;
  config.no_next_launch = IsSet("CAIRN_UPLOAD_URL") ? 0 : 1;
  const cairn_status status = cairn_install(&config);
  if (status != CAIRN_OK && IsSet("CAIRN_VERBOSE")) {
    Say(cairn_status_text(status));
  }
}

}  // namespace
