// SPDX-License-Identifier: Apache-2.0
//
// Breakpad in the crashed process itself, as its documentation begins.
#include <client/linux/handler/exception_handler.h>
#include "bench/target/reporter.h"

namespace cairn::bench {

const char* StartReporter(const Request& request) {
  // Never destroyed: its destructor would take the handlers away.
  static auto* handler = new google_breakpad::ExceptionHandler(
      google_breakpad::MinidumpDescriptor(request.directory),
      nullptr,
      nullptr,
      nullptr,
      true,
      -1);
  return handler != nullptr ? nullptr : "no handler";
}

}  // namespace cairn::bench
