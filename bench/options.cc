// SPDX-License-Identifier: Apache-2.0
#include "bench/options.h"

#include <algorithm>
#include <cstdio>

#include "bench/summary.h"

namespace cairn::bench {
namespace {

std::string Yardstick(const char* name, const std::vector<double>& samples) {
  const Summary summary = Summarize(samples);
  return std::string(name) + " " + Digits(summary.median) + " us (" +
         Digits(summary.min) + " to " + Digits(summary.max) + ")";
}

}  // namespace

void AddCommonOptions(CLI::App* app, Options* options) {
  app->add_option("--runs", options->runs, "Rounds; each runs every case once")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  app->add_flag("--json", options->json, "Print one JSON object, with samples");
  app->add_option("--directory",
                  options->directory,
                  "Where reports and cores are written, and removed again")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  app->add_option(
      "--without", options->without, "Leave out: core dump, cairn, breakpad");
}

void AddThreadsOption(CLI::App* app, Options* options) {
  app->add_option("--threads",
                  options->threads,
                  "Numbers of threads, main among them, each 20 frames deep")
      ->capture_default_str()
      ->check(CLI::Range(1, 16000));
}

std::vector<Subject> ChosenSubjects(const Options& options) {
  const auto left_out = [&](const std::string& name) {
    return std::find(options.without.begin(), options.without.end(), name) !=
           options.without.end();
  };
  std::vector<Subject> subjects = AllSubjects();
  std::erase_if(subjects,
                [&](const Subject& subject) { return left_out(subject.name); });
  if (!WhyNoBreakpad().empty() && !left_out("breakpad")) {
    std::fprintf(stderr, "breakpad: %s\n", WhyNoBreakpad().c_str());
  }
  return subjects;
}

std::string Preamble(const Machine& machine,
                     const Yardsticks& yardsticks,
                     int runs) {
  std::string text =
      std::to_string(machine.cores) + " cores, " + machine.cpu + ", " +
      machine.kernel + "; " + std::to_string(runs) +
      " interleaved runs, medians (least to most)\n" +
      "yardsticks: " + Yardstick("fork and exit", yardsticks.fork_exit_us()) +
      ", fixed loop " + Yardstick("", yardsticks.cpu_loop_us()).substr(1) +
      "\n";
  const std::string remark = CorePatternRemark(machine.core_pattern);
  return remark.empty() ? text : text + remark + "\n";
}

}  // namespace cairn::bench
