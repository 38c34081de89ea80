// SPDX-License-Identifier: Apache-2.0
//
// Collects what could not be used of a file. Bounded: a hostile file cannot
// make more than kMaxProblems entries, and costs no text beyond them; Finish
// then tells how many more there were.
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

  // The text is what the parts say, one after the other: strings and numbers.
  template <typename... Parts>
  void Add(uint64_t offset, const Parts&... parts) {
    if (problems_->size() < kMaxProblems) {
      problems_->push_back({offset, (std::string() + ... + Text(parts))});
    } else {
      ++more_;
    }
  }

  void Finish() {
    if (more_ != 0) {
      problems_->push_back(
          {0, "and " + std::to_string(more_) + " more problems"});
    }
  }

 private:
  static std::string Text(const std::string& text) { return text; }
  static std::string Text(const char* text) { return text; }
  static std::string Text(uint64_t number) { return std::to_string(number); }

  std::vector<Problem>* problems_;
  uint64_t more_ = 0;
};

}  // namespace cairn::report

#endif  // CAIRN_REPORT_PROBLEM_LIST_H_
