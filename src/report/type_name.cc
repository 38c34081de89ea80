// SPDX-License-Identifier: Apache-2.0
#include "report/type_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace cairn::report {
namespace {

constexpr size_t kMaxMangledBytes = 512;
constexpr ptrdiff_t kMaxReferences = 10;

// Letters that begin a substitution, a template parameter or a pack expansion,
// wherever they stand.
bool MayRefer(char c) {
  return c == 'S' || c == 'T' || c == 'D';
}

}  // namespace

std::string TypeName(const std::string& mangled) {
  if (mangled.empty() || mangled.size() > kMaxMangledBytes ||
      std::count_if(mangled.begin(), mangled.end(), MayRefer) >
          kMaxReferences) {
    return mangled;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status),
      &std::free);
  return status == 0 && name ? std::string(name.get()) : mangled;
}

}  // namespace cairn::report
