// SPDX-License-Identifier: Apache-2.0
#include "writer/annotations.h"

#include "cairn/cairn.h"
#include "handlers/crash_base.h"

namespace {

constexpr int kTries = 1000;

// Null where nothing is installed, also while the memory of an earlier install
// is made ready for the next one.
cairn::writer::Annotations* Current() {
  cairn::handlers::CrashBase* state = cairn::handlers::Base();
  return state == nullptr
             ? nullptr
             : __atomic_load_n(&state->annotations, __ATOMIC_ACQUIRE);
}

}  // namespace

extern "C" cairn_status cairn_set_key(const char* name, const char* value) {
  cairn::writer::Annotations* annotations = Current();
  if (annotations == nullptr) {
    return CAIRN_NOT_INSTALLED;
  }
  if (name == nullptr || name[0] == '\0') {
    return CAIRN_BAD_CONFIG;
  }
  for (int i = 0; i < kTries; ++i) {
    if (cairn::writer::SetKey(annotations, name, value)) {
      return CAIRN_OK;
    }
  }
  return CAIRN_LIMIT;
}

extern "C" cairn_status cairn_add_breadcrumb(const char* category,
                                             const char* message) {
  cairn::writer::Annotations* annotations = Current();
  if (annotations == nullptr) {
    return CAIRN_NOT_INSTALLED;
  }
  if (message == nullptr) {
    return CAIRN_BAD_CONFIG;
  }
  cairn::writer::AddBreadcrumb(annotations, category, message);
  return CAIRN_OK;
}
