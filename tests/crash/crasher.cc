// SPDX-License-Identifier: Apache-2.0
//
// crasher DIRECTORY CASE [OPTION=VALUE]…: installs Cairn and crashes as CASE of
// crash_list.h says, in a surrounding as crasher_options.h says. Two threads
// are parked beside, one of them made before the install.
// crasher_preloaded is the same without Cairn in it.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tests/crash/crasher.h"
#include "tests/crash/crasher_options.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: crasher DIRECTORY CASE [OPTION=VALUE]...\n");
    return 2;
  }
  const std::string name = argv[2];
  const auto options = cairn::crash::ReadOptions(argv + 3, argc - 3);
  alarm(60);
  cairn::crash::PrepareSurrounding(options, argv[1]);
  cairn::crash::StartOlderThread();
  cairn::crash::ParkThread("parked-before");
  cairn::crash::PrepareCrash(name);
  if (!cairn::crash::InstallCairn(argv[1], argv[2])) {
    return 3;
  }
  cairn::crash::ParkThread("parked-after");
  const cairn::crash::CrashFunction crash =
      cairn::crash::FindCrash(name == "trap_bites" ? "null_read" : name);
  if (crash == nullptr) {
    fprintf(stderr, "crasher: no case %s\n", argv[2]);
    return 2;
  }
  cairn::crash::MakeSurrounding(options, argv[1]);
  crash();
  return 0;
}
