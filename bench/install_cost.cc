// SPDX-License-Identifier: Apache-2.0
//
// What a process pays that never crashes: the install call's time, resident
// memory, and the time of the whole process from start to end. See
// bench/README.md.
#include <cstdio>

#include "bench/json_output.h"
#include "bench/options.h"
#include "bench/summary.h"
#include "bench/table.h"

namespace cairn::bench {
namespace {

// Runs that leave something behind in the kept directory before it counts.
constexpr int kEarlierRuns = 3;

struct Cell {
  std::string name;
  Subject subject;
  std::string kept_directory;
  std::vector<double> install_us, install_kib, resident_kib, process_ms;
  std::string failure;
};

std::vector<Cell> CellsOf(const Options& options) {
  std::vector<Cell> cells;
  for (const Subject& subject : ChosenSubjects(options)) {
    if (subject.core) {
      continue;  // costs nothing before the crash
    }
    Cell cell;
    cell.subject = subject;
    cell.name = subject.name;
    if (subject.name != "cairn") {
      cells.push_back(cell);
      continue;
    }
    cell.name = "cairn, new directory";
    cells.push_back(cell);
    cell.name = "cairn, directory of earlier runs";
    cell.kept_directory = "kept";
    cells.push_back(cell);
  }
  return cells;
}

void Measure(const Options& options,
             Yardsticks* yardsticks,
             std::vector<Cell>* cells) {
  TargetRunner runner(options.directory);
  Load load;
  load.crash = false;
  for (int round = -kEarlierRuns; round < options.runs; ++round) {
    if (round >= 0) {
      yardsticks->Measure();
    }
    for (size_t i = 0; i < cells->size(); ++i) {
      Cell& cell = (*cells)[(i + static_cast<size_t>(round + kEarlierRuns)) %
                            cells->size()];
      const Outcome outcome =
          runner.Run(cell.subject, load, cell.kept_directory);
      if (!outcome.failure.empty()) {
        cell.failure = outcome.failure;
      } else if (round >= 0) {
        cell.install_us.push_back(outcome.install_us);
        cell.install_kib.push_back(outcome.install_resident_kib);
        cell.resident_kib.push_back(outcome.resident_kib);
        cell.process_ms.push_back(outcome.start_to_end_ms);
      }
    }
  }
}

std::string ThreeFigures(const std::vector<double>& samples) {
  const Summary summary = Summarize(samples);
  return Digits(summary.median) + " (" + Digits(summary.min) + " to " +
         Digits(summary.max) + ")";
}

double MedianWithoutHandler(const std::vector<Cell>& cells,
                            std::vector<double> Cell::* what) {
  for (const Cell& cell : cells) {
    if (cell.name == "no handler") {
      return Summarize(cell.*what).median;
    }
  }
  return 0;
}

int Run(const Options& options) {
  std::vector<Cell> cells = CellsOf(options);
  Yardsticks yardsticks;
  Measure(options, &yardsticks, &cells);
  const double none_kib = MedianWithoutHandler(cells, &Cell::resident_kib);
  const double none_ms = MedianWithoutHandler(cells, &Cell::process_ms);
  Table table({"subject",
               "install us",
               "KiB by install",
               "process KiB",
               "more",
               "start to end ms",
               "more"},
              1);
  std::vector<Row> rows;
  bool failed = false;
  for (const Cell& cell : cells) {
    rows.push_back({{{"subject", cell.name}},
                    {},
                    {{"install_us", cell.install_us},
                     {"install_resident_kib", cell.install_kib},
                     {"resident_kib", cell.resident_kib},
                     {"start_to_end_ms", cell.process_ms}},
                    cell.failure});
    failed = failed || !cell.failure.empty();
    if (!cell.failure.empty()) {
      table.Add({cell.name, cell.failure});
      continue;
    }
    table.Add({cell.name,
               ThreeFigures(cell.install_us),
               Digits(Summarize(cell.install_kib).median),
               Digits(Summarize(cell.resident_kib).median),
               Digits(Summarize(cell.resident_kib).median - none_kib),
               ThreeFigures(cell.process_ms),
               Digits(Summarize(cell.process_ms).median - none_ms)});
  }
  const Machine machine = ThisMachine();
  const std::string text =
      options.json
          ? JsonOutput(machine, yardsticks, options.runs, rows) + "\n"
          : Preamble(machine, yardsticks, options.runs) + table.Print();
  std::fputs(text.c_str(), stdout);
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  CLI::App app("Time and memory of an install, beside none and Breakpad");
  cairn::bench::Options options;
  cairn::bench::AddCommonOptions(&app, &options);
  CLI11_PARSE(app, argc, argv);
  return cairn::bench::Run(options);
}
