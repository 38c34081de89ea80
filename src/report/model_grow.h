// SPDX-License-Identifier: Apache-2.0
//
// Body of ModelBuilder::Grow, for the builder's own source files.
#ifndef CAIRN_REPORT_MODEL_GROW_H_
#define CAIRN_REPORT_MODEL_GROW_H_

#include "report/model_builder.h"

namespace cairn::report {

template <typename T>
bool ModelBuilder::Grow(std::vector<T>* list, size_t offset) {
  if (!Charge(sizeof(T), offset)) {
    return false;
  }
  list->emplace_back();
  return true;
}

}  // namespace cairn::report

#endif  // CAIRN_REPORT_MODEL_GROW_H_
