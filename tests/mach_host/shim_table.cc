// SPDX-License-Identifier: Apache-2.0
#include "shim_table.h"

#include <unordered_map>

namespace mach_host {
namespace {

std::unordered_map<std::string, Shim>& Table() {
  static auto* table = new std::unordered_map<std::string, Shim>;
  return *table;
}

}  // namespace

ShimRegistration::ShimRegistration(const char* name,
                                   const void* address,
                                   bool data) {
  Table()[name] = {reinterpret_cast<std::uint64_t>(address), data};
}

Shim FindShim(const std::string& name) {
  const auto found = Table().find(name);
  if (found != Table().end())
    return found->second;
  return {FindSameOnBoth(name), false};
}

}  // namespace mach_host
