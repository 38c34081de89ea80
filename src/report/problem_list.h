// SPDX-License-Identifier: Apache-2.0
//
// Collects what could not be used of a file. Bounded: a hostile file cannot
// make more than kMaxProblems entries; the last one then tells how many more.
#ifndef CAIRN_REPORT_PROBLEM_LIST_H_
#define CAIRN_REPORT_PROBLEM_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"

namespace cairn::report {

inline constexpr size_t kMaxProblems = 100;

class ProblemList {
 public:
  explicit ProblemList(std::vector<Problem>* problems) : problems_(problems) {}

  void Add(uint64_t offset, std::string text) {
    if (problems_->size() < kMaxProblems) {
      problems_->push_back({offset, std::move(text)});
    } else {
      problems_->back() = {
          offset, "and " + std::to_string(++more_ + 1) + " more problems"};
    }
  }

 private:
  std::vector<Problem>* problems_;
  uint64_t more_ = 0;
};

}  // namespace cairn::report

#endif  // CAIRN_REPORT_PROBLEM_LIST_H_
