// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include "symbolicate/shared_library.h"

namespace cairn::symbolicate {

SharedLibrary::SharedLibrary(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      return;
    }
  }
}

void* SharedLibrary::Symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace cairn::symbolicate
