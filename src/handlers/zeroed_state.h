// SPDX-License-Identifier: Apache-2.0
//
// A crash state as install makes it: pages of zeros that nobody has touched.
// For tests only.
#ifndef CAIRN_HANDLERS_ZEROED_STATE_H_
#define CAIRN_HANDLERS_ZEROED_STATE_H_

#include <sys/mman.h>

namespace cairn::handlers {

template <typename State>
class Zeroed {
 public:
  Zeroed()
      : state_(static_cast<State*>(mmap(nullptr,
                                        sizeof(State),
                                        PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS,
                                        -1,
                                        0))) {}
  ~Zeroed() { munmap(state_, sizeof(State)); }
  Zeroed(const Zeroed&) = delete;
  Zeroed& operator=(const Zeroed&) = delete;

  State* get() const { return state_; }
  State* operator->() const { return state_; }

 private:
  State* const state_;
};

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_ZEROED_STATE_H_
