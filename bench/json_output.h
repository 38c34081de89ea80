// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks' figures for machines: {machine {}, yardsticks {}, rows []}.
#ifndef CAIRN_BENCH_JSON_OUTPUT_H_
#define CAIRN_BENCH_JSON_OUTPUT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/machine.h"

namespace cairn::bench {

struct Row {
  std::map<std::string, std::string> names;  // what was measured
  std::map<std::string, double> numbers;     // of the case, single results
  std::map<std::string, std::vector<double>> samples;
  std::string failure;  // "": it ran
};

// Each list of samples becomes {median, min, max, samples []}.
std::string JsonOutput(const Machine& machine,
                       const Yardsticks& yardsticks,
                       int runs,
                       const std::vector<Row>& rows);

}  // namespace cairn::bench

#endif  // CAIRN_BENCH_JSON_OUTPUT_H_
