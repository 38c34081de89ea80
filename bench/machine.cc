// SPDX-License-Identifier: Apache-2.0
#include "bench/machine.h"

#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <thread>

#include "bench/target/page.h"

namespace cairn::bench {
namespace {

// A million dependent multiplications and additions.
uint64_t FixedLoop() {
  uint64_t value = 1;
  for (int i = 0; i < 1000000; ++i) {
    value = value * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(value));
  }
  return value;
}

double MicrosecondsSince(uint64_t start_ns) {
  return static_cast<double>(MonotonicNs() - start_ns) / 1000;
}

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

}  // namespace

Machine ThisMachine() {
  utsname name{};
  uname(&name);
  Machine machine{std::thread::hardware_concurrency(),
                  std::string(name.sysname) + " " + name.release,
                  CpuName(),
                  ""};
  std::ifstream pattern("/proc/sys/kernel/core_pattern");
  std::getline(pattern, machine.core_pattern);
  return machine;
}

std::string CorePatternRemark(const std::string& core_pattern) {
  if (core_pattern == "core") {
    return "";
  }
  if (core_pattern.starts_with("|")) {
    return "core_pattern is a pipe: the core dump's time is that of its reader "
           "too, and its size is not seen";
  }
  return "core_pattern is not `core`: cores may lie elsewhere, their size is "
         "not seen then";
}

void Yardsticks::Measure() {
  uint64_t start = MonotonicNs();
  FixedLoop();
  cpu_loop_us_.push_back(MicrosecondsSince(start));
  start = MonotonicNs();
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  fork_exit_us_.push_back(MicrosecondsSince(start));
}

}  // namespace cairn::bench
