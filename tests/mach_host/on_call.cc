// SPDX-License-Identifier: Apache-2.0
//
// What every call from the program into libSystem passes: rules that hold while
// threads are frozen.
#include <unistd.h>

#include <cstring>

#include "kernel/thread.h"
#include "system_image.h"
#include "violations.h"

namespace mach_host {
namespace {

bool OneOf(const char* name, const char* const* list) {
  for (; *list != nullptr; ++list)
    if (std::strcmp(name, *list) == 0)
      return true;
  return false;
}

// The allocator's lock may be held by a frozen thread (libmalloc magazines).
constexpr const char* kAllocator[] = {"_malloc",
                                      "_free",
                                      "_calloc",
                                      "_realloc",
                                      "_posix_memalign",
                                      "_aligned_alloc",
                                      "_strdup",
                                      nullptr};
// So may dyld's (dyld4 APIs take the loaders' lock).
constexpr const char* kLoader[] = {"_dlopen",
                                   "_dlsym",
                                   "_dladdr",
                                   "_dlclose",
                                   "__dyld_image_count",
                                   "__dyld_get_image_header",
                                   "__dyld_get_image_name",
                                   "__dyld_get_image_vmaddr_slide",
                                   "__dyld_register_func_for_add_image",
                                   nullptr};
// Unmapping what another thread's stack or the list itself needs (known to end
// in a deadlock or a fault while threads are stopped).
constexpr const char* kUnmap[] = {"_vm_deallocate",
                                  "_mach_vm_deallocate",
                                  nullptr};

// While the host plays a held lock, the call waits for it as it would there.
void WaitForThaw() {
  while (FrozenCount() > 0)
    usleep(1000);
}

}  // namespace
}  // namespace mach_host

extern "C" void mach_host_on_call(const char* name) {
  using namespace mach_host;
  if (FrozenCount() == 0)
    return;
  Thread* self = Self();
  if (self == nullptr || self->suspend_count > 0)
    return;
  if (OneOf(name, kAllocator)) {
    Violation("allocator_while_frozen", name);
    if (PlayedFaults().allocator_held)
      WaitForThaw();
  } else if (OneOf(name, kLoader)) {
    Violation("loader_while_frozen", name);
    if (PlayedFaults().loader_held)
      WaitForThaw();
  } else if (OneOf(name, kUnmap)) {
    Violation("unmap_while_frozen", name);
  }
}

// A function that the host has no shim for.
extern "C" [[noreturn]] void mach_host_missing(const char* name) {
  mach_host::Violation("missing_function", name);
  _exit(97);
}
