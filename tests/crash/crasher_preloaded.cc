// SPDX-License-Identifier: Apache-2.0
//
// The crasher without Cairn in it: the preload has installed it before main,
// configured by the environment.
#include <cstdio>

#include "tests/crash/crasher.h"

// Of the preload, where there is one.
extern "C" {
__attribute__((weak)) int cairn_set_key(const char*, const char*);
__attribute__((weak)) int cairn_add_breadcrumb(const char*, const char*);
}

namespace cairn::crash {

bool InstallCairn(const char* /*directory*/, char* /*name*/) {
  if (cairn_set_key == nullptr || cairn_add_breadcrumb == nullptr) {
    fprintf(stderr, "crasher_preloaded: no preload\n");
    return false;
  }
  cairn_set_key("colour", "blue");
  cairn_add_breadcrumb("test", "about to crash");
  return true;
}

}  // namespace cairn::crash
