// SPDX-License-Identifier: Apache-2.0
#include "writer/annotations.h"

#include "cairn/cairn.h"
#include "handlers/crash_base.h"

namespace {

constexpr int kTries = 1000;

}  // namespace

extern "C" cairn_status cairn_set_key(const char* name, const char* value) {
  cairn::handlers::CrashBase* state = cairn::handlers::Base();
  if (state == nullptr) {
    return CAIRN_NOT_INSTALLED;
  }
  if (name == nullptr || name[0] == '\0') {
    return CAIRN_BAD_CONFIG;
  }
  for (int i = 0; i < kTries; ++i) {
    if (cairn::writer::SetKey(state->annotations, name, value)) {
      return CAIRN_OK;
    }
  }
  return CAIRN_LIMIT;
}

extern "C" cairn_status cairn_add_breadcrumb(const char* category,
                                             const char* message) {
  cairn::handlers::CrashBase* state = cairn::handlers::Base();
  if (state == nullptr) {
    return CAIRN_NOT_INSTALLED;
  }
  if (message == nullptr) {
    return CAIRN_BAD_CONFIG;
  }
  cairn::writer::AddBreadcrumb(state->annotations, category, message);
  return CAIRN_OK;
}
