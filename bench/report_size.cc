// SPDX-License-Identifier: Apache-2.0
//
// How many bytes a crash leaves: Cairn's sealed report with and without stack
// bytes, Breakpad's minidump, the kernel's core. See bench/README.md.
#include <cstdio>

#include "bench/json_output.h"
#include "bench/options.h"
#include "bench/summary.h"
#include "bench/table.h"

namespace cairn::bench {
namespace {

struct Cell {
  Subject subject;
  Load load;
  std::vector<double> bytes, disk_bytes;
  std::string failure;
};

std::vector<Cell> CellsOf(const Options& options) {
  std::vector<Cell> cells;
  for (const uint32_t threads : options.threads) {
    for (const Subject& subject : ChosenSubjects(options)) {
      Load load;
      load.threads = threads;
      if (subject.ending.empty()) {
        continue;  // leaves nothing
      }
      cells.push_back({subject, load, {}, {}, ""});
      if (subject.name == "cairn") {
        cells.push_back(cells.back());
        cells.back().load.no_stack_bytes = true;
        cells.back().subject.name = "cairn, no stack bytes";
      }
    }
  }
  return cells;
}

std::string Threads(uint32_t threads) {
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

void Measure(const Options& options,
             Yardsticks* yardsticks,
             std::vector<Cell>* cells) {
  TargetRunner runner(options.directory);
  for (int round = 0; round < options.runs; ++round) {
    yardsticks->Measure();
    for (Cell& cell : *cells) {
      const Outcome outcome = runner.Run(cell.subject, cell.load);
      if (!outcome.failure.empty()) {
        cell.failure = outcome.failure;
        continue;
      }
      cell.bytes.push_back(static_cast<double>(outcome.report_bytes));
      cell.disk_bytes.push_back(static_cast<double>(outcome.report_disk_bytes));
    }
  }
}

int Run(const Options& options) {
  std::vector<Cell> cells = CellsOf(options);
  Yardsticks yardsticks;
  Measure(options, &yardsticks, &cells);
  Table table({"case", "subject", "bytes", "least", "most", "on disk"}, 2);
  std::vector<Row> rows;
  bool failed = false;
  for (const Cell& cell : cells) {
    const std::string name = Threads(cell.load.threads);
    const Summary bytes = Summarize(cell.bytes);
    rows.push_back({{{"case", name}, {"subject", cell.subject.name}},
                    {{"threads", cell.load.threads}},
                    {{"bytes", cell.bytes}, {"disk_bytes", cell.disk_bytes}},
                    cell.failure});
    failed = failed || !cell.failure.empty();
    if (!cell.failure.empty()) {
      table.Add({name, cell.subject.name, cell.failure});
    } else {
      table.Add({name,
                 cell.subject.name,
                 Digits(bytes.median),
                 Digits(bytes.min),
                 Digits(bytes.max),
                 Digits(Summarize(cell.disk_bytes).median)});
    }
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
  CLI::App app("Bytes of a report, beside a minidump and a core");
  cairn::bench::Options options;
  cairn::bench::AddCommonOptions(&app, &options);
  cairn::bench::AddThreadsOption(&app, &options);
  CLI11_PARSE(app, argc, argv);
  return cairn::bench::Run(options);
}
