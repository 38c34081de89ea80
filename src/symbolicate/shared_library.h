// SPDX-License-Identifier: Apache-2.0
//
// A library loaded at first use and never unloaded.
#ifndef CAIRN_SYMBOLICATE_SHARED_LIBRARY_H_
#define CAIRN_SYMBOLICATE_SHARED_LIBRARY_H_

#include <initializer_list>

namespace cairn::symbolicate {

class SharedLibrary {
 public:
  // The first of `names` that the loader finds.
  explicit SharedLibrary(std::initializer_list<const char*> names);

  bool loaded() const { return handle_ != nullptr; }
  // False, with `function` null, when it is not there.
  template <typename Function>
  bool Find(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(Symbol(name));
    return *function != nullptr;
  }

 private:
  void* Symbol(const char* name) const;
  void* handle_ = nullptr;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_SHARED_LIBRARY_H_
