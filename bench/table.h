// SPDX-License-Identifier: Apache-2.0
//
// Columns that line up: text to the left, figures to the right.
#ifndef CAIRN_BENCH_TABLE_H_
#define CAIRN_BENCH_TABLE_H_

#include <string>
#include <vector>

namespace cairn::bench {

class Table {
 public:
  // The first `text_columns` are text.
  Table(std::vector<std::string> heads, size_t text_columns);
  void Add(std::vector<std::string> cells);
  std::string Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  size_t text_columns_;
};

}  // namespace cairn::bench

#endif  // CAIRN_BENCH_TABLE_H_
