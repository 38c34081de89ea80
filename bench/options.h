// SPDX-License-Identifier: Apache-2.0
//
// The command line that all benchmarks have in common, and what stands above
// every table.
#ifndef CAIRN_BENCH_OPTIONS_H_
#define CAIRN_BENCH_OPTIONS_H_

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/run_target.h"

namespace cairn::bench {

struct Options {
  int runs = 21;
  bool json = false;
  std::string directory = "/tmp";  // must hold the cores
  std::vector<std::string> without;
  std::vector<uint32_t> threads = {1, 100, 1000};
};

// Adds --runs, --json, --directory and --without.
void AddCommonOptions(CLI::App* app, Options* options);
// Adds --threads.
void AddThreadsOption(CLI::App* app, Options* options);

// All subjects but those that `options` leaves out; prints on standard error
// why Breakpad is not among them.
std::vector<Subject> ChosenSubjects(const Options& options);

// "2 cores, …; yardsticks: …".
std::string Preamble(const Machine& machine,
                     const Yardsticks& yardsticks,
                     int runs);

}  // namespace cairn::bench

#endif  // CAIRN_BENCH_OPTIONS_H_
