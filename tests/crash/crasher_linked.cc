// SPDX-License-Identifier: Apache-2.0
//
// The crasher with Cairn in it.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "cairn/cairn.h"
#include "tests/crash/crasher.h"

namespace cairn::crash {
namespace {

bool g_callback_crashes = false;

void OnCrash(const cairn_crash_info* info, void* context) {
  if (g_callback_crashes) {
    *Hide(reinterpret_cast<volatile int*>(0x30)) = info->signal_number;
  }
  if (std::strcmp(static_cast<const char*>(context), "trap_bites") == 0) {
    free(Hide(malloc(1)));
  }
  WaitUntilAllHaveCrashed();
  static const char kText[] = "callback 1\n";
  if (write(1, kText, sizeof(kText) - 1) < 0) {
    return;
  }
}

}  // namespace

bool InstallCairn(const char* directory, char* name) {
  cairn_config config;
  cairn_config_init(&config);
  config.directory = directory;
  config.app_id = "org.cairn.crasher";
  config.app_version = "1.2.3";
  config.on_crash = OnCrash;
  config.on_crash_context = name;
  config.no_next_launch = 1;
  g_callback_crashes = std::strcmp(name, "callback_crashes") == 0;
  const cairn_status status = cairn_install(&config);
  if (status != CAIRN_OK) {
    fprintf(stderr, "crasher: %s\n", cairn_status_text(status));
    return false;
  }
  cairn_set_key("colour", "blue");
  cairn_add_breadcrumb("test", "about to crash");
  return true;
}

}  // namespace cairn::crash
