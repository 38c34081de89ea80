// SPDX-License-Identifier: Apache-2.0
#include "bench/table.h"

#include <algorithm>

namespace cairn::bench {

Table::Table(std::vector<std::string> heads, size_t text_columns)
    : rows_{std::move(heads)}, text_columns_(text_columns) {}

void Table::Add(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string Table::Print() const {
  std::vector<size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += i < text_columns_ ? row[i] + space : space + row[i];
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace cairn::bench
