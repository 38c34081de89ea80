// SPDX-License-Identifier: Apache-2.0
//
// crasher DIRECTORY CASE: installs Cairn and crashes as CASE of crash_list.h
// says. Two threads are parked beside, one of them made before the install.
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "cairn/cairn.h"
#include "tests/crash/crasher.h"

namespace {

bool g_callback_crashes = false;

void OnCrash(const cairn_crash_info* info, void* context) {
  if (g_callback_crashes) {
    *cairn::crash::Hide(reinterpret_cast<volatile int*>(0x30)) =
        info->signal_number;
  }
  if (std::strcmp(static_cast<const char*>(context), "trap_bites") == 0) {
    free(cairn::crash::Hide(malloc(1)));
  }
  static const char kText[] = "callback 1\n";
  if (write(1, kText, sizeof(kText) - 1) < 0) {
    return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: crasher DIRECTORY CASE\n");
    return 2;
  }
  const std::string name = argv[2];
  alarm(60);
  cairn::crash::StartOlderThread();
  cairn::crash::ParkThread("parked-before");
  cairn::crash::PrepareCrash(name);
  cairn_config config;
  cairn_config_init(&config);
  config.directory = argv[1];
  config.app_id = "org.cairn.crasher";
  config.app_version = "1.2.3";
  config.on_crash = OnCrash;
  config.on_crash_context = argv[2];
  config.no_next_launch = 1;
  g_callback_crashes = name == "callback_crashes";
  const cairn_status status = cairn_install(&config);
  if (status != CAIRN_OK) {
    fprintf(stderr, "crasher: %s\n", cairn_status_text(status));
    return 3;
  }
  cairn_set_key("colour", "blue");
  cairn_add_breadcrumb("test", "about to crash");
  cairn::crash::ParkThread("parked-after");
  const cairn::crash::CrashFunction crash =
      cairn::crash::FindCrash(name == "trap_bites" ? "null_read" : name);
  if (crash == nullptr) {
    fprintf(stderr, "crasher: no case %s\n", argv[2]);
    return 2;
  }
  crash();
  return 0;
}
