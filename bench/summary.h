// SPDX-License-Identifier: Apache-2.0
//
// Many measurements in three figures.
#ifndef CAIRN_BENCH_SUMMARY_H_
#define CAIRN_BENCH_SUMMARY_H_

#include <string>
#include <vector>

namespace cairn::bench {

struct Summary {
  double median = 0;
  double min = 0;
  double max = 0;
};

// All zero for no samples. The median of an even number is the mean of the
// middle two.
Summary Summarize(std::vector<double> samples);

// Every sample less `base`.
std::vector<double> Less(const std::vector<double>& samples, double base);

// Three digits that matter: "0.412", "7.41", "1,160".
std::string Digits(double value);

}  // namespace cairn::bench

#endif  // CAIRN_BENCH_SUMMARY_H_
