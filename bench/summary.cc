// SPDX-License-Identifier: Apache-2.0
#include "bench/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace cairn::bench {

Summary Summarize(std::vector<double> samples) {
  if (samples.empty()) {
    return {};
  }
  std::sort(samples.begin(), samples.end());
  const size_t middle = samples.size() / 2;
  const double median = samples.size() % 2 != 0
                            ? samples[middle]
                            : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), samples.back()};
}

std::vector<double> Less(const std::vector<double>& samples, double base) {
  std::vector<double> less(samples);
  for (double& sample : less) {
    sample -= base;
  }
  return less;
}

std::string Digits(double value) {
  const double size = std::fabs(value);
  char text[64];
  std::snprintf(text,
                sizeof(text),
                size >= 100  ? "%.0f"
                : size >= 10 ? "%.1f"
                : size >= 1  ? "%.2f"
                             : "%.3f",
                value);
  std::string digits = text;
  if (digits.find('.') == std::string::npos) {
    const size_t first = digits[0] == '-' ? 1 : 0;
    for (size_t at = digits.size(); at > first + 3;) {
      at -= 3;
      digits.insert(at, 1, ',');
    }
  }
  return digits;
}

}  // namespace cairn::bench
