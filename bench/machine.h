// SPDX-License-Identifier: Apache-2.0
//
// The machine that was measured on, and yardsticks that tell it apart from
// another: absolute figures mean little without them.
#ifndef CAIRN_BENCH_MACHINE_H_
#define CAIRN_BENCH_MACHINE_H_

#include <string>
#include <vector>

namespace cairn::bench {

struct Machine {
  unsigned cores;
  std::string kernel;
  std::string cpu;
  std::string core_pattern;  // left as it is
};

Machine ThisMachine();

// What the core dump's figures mean under this core_pattern; "" for the plain
// `core`.
std::string CorePatternRemark(const std::string& core_pattern);

// Measured once a round, between the subjects.
class Yardsticks {
 public:
  void Measure();
  const std::vector<double>& fork_exit_us() const { return fork_exit_us_; }
  const std::vector<double>& cpu_loop_us() const { return cpu_loop_us_; }

 private:
  std::vector<double> fork_exit_us_;
  std::vector<double> cpu_loop_us_;
};

}  // namespace cairn::bench

#endif  // CAIRN_BENCH_MACHINE_H_
