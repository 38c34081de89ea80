// SPDX-License-Identifier: Apache-2.0
//
// Names that a Mach-O program imports from libSystem → what the host gives it.
// A shim registers itself beside its definition; names whose glibc function has
// the same arguments and layouts on both systems stand in same_on_both.cc.
#ifndef MACH_HOST_SHIM_TABLE_H_
#define MACH_HOST_SHIM_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace mach_host {

// Adds `name` (with its leading `_`). Called by the macros below, before main.
struct ShimRegistration {
  ShimRegistration(const char* name, const void* address, bool data);
};

// A function: MACH_SHIM("_open", Open);
#define MACH_SHIM(name, function) MACH_SHIM_LINE(name, function, __COUNTER__)
#define MACH_SHIM_LINE(name, function, n) MACH_SHIM_NAMED(name, function, n)
#define MACH_SHIM_NAMED(name, function, n)                  \
  static const ::mach_host::ShimRegistration mach_shim_##n( \
      name, reinterpret_cast<const void*>(&(function)), false)
// A variable that the program reads by address: MACH_SHIM_DATA("_environ",
// environ);
#define MACH_SHIM_DATA(name, variable) \
  MACH_SHIM_DATA_LINE(name, variable, __COUNTER__)
#define MACH_SHIM_DATA_LINE(name, variable, n) \
  MACH_SHIM_DATA_NAMED(name, variable, n)
#define MACH_SHIM_DATA_NAMED(name, variable, n)                  \
  static const ::mach_host::ShimRegistration mach_shim_data_##n( \
      name, static_cast<const void*>(&(variable)), true)

struct Shim {
  std::uint64_t address = 0;
  bool data = false;
};
// What stands for `name`, without libSystem's stub around it; address 0:
// nothing.
Shim FindShim(const std::string& name);
// glibc's function of the same name and shape, or 0.
std::uint64_t FindSameOnBoth(std::string_view name);

}  // namespace mach_host

#endif  // MACH_HOST_SHIM_TABLE_H_
