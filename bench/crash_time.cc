// SPDX-License-Identifier: Apache-2.0
//
// How long a crash takes longer: from just before the fault to the parent's
// waitpid, less the same without a handler. See bench/README.md.
#include <cstdio>

#include "bench/json_output.h"
#include "bench/options.h"
#include "bench/summary.h"
#include "bench/table.h"

namespace cairn::bench {
namespace {

struct Case {
  std::string name;
  Load load;
};

// What a round measured, by case and subject.
struct Cell {
  std::vector<double> total_ms;
  std::string failure;
};

std::vector<Case> CasesOf(const Options& options, uint32_t libraries) {
  std::vector<Case> cases;
  for (const uint32_t threads : options.threads) {
    Load load;
    load.threads = threads;
    cases.push_back(
        {Digits(threads) + (threads == 1 ? " thread" : " threads"), load});
    cases.back().name =
        std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }
  if (libraries > 0) {
    Load load;
    load.libraries = libraries;
    cases.push_back(
        {"1 thread, " + std::to_string(libraries) + " libraries", load});
  }
  return cases;
}

// The subjects change places from round to round.
void Measure(TargetRunner* runner,
             const Case& what,
             const std::vector<Subject>& subjects,
             int runs,
             Yardsticks* yardsticks,
             std::vector<Cell>* cells) {
  cells->resize(subjects.size());
  for (int round = 0; round < runs; ++round) {
    yardsticks->Measure();
    for (size_t i = 0; i < subjects.size(); ++i) {
      const size_t at = (i + static_cast<size_t>(round)) % subjects.size();
      const Outcome outcome = runner->Run(subjects[at], what.load);
      Cell& cell = (*cells)[at];
      if (outcome.failure.empty()) {
        cell.total_ms.push_back(outcome.added_from_fault_ms);
      } else {
        cell.failure = outcome.failure;
      }
    }
  }
}

double MedianOf(const std::vector<Subject>& subjects,
                const std::vector<Cell>& cells,
                const std::string& name) {
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].name == name) {
      return Summarize(cells[i].total_ms).median;
    }
  }
  return 0;
}

void AddRows(const Case& what,
             const std::vector<Subject>& subjects,
             const std::vector<Cell>& cells,
             Table* table,
             std::vector<Row>* rows) {
  const double none = MedianOf(subjects, cells, "no handler");
  const double core = MedianOf(subjects, cells, "core dump") - none;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const std::vector<double> added = Less(cells[i].total_ms, none);
    const Summary total = Summarize(cells[i].total_ms);
    const Summary more = Summarize(added);
    rows->push_back(
        {{{"case", what.name}, {"subject", subjects[i].name}},
         {{"threads", what.load.threads}, {"libraries", what.load.libraries}},
         {{"total_ms", cells[i].total_ms}, {"added_ms", added}},
         cells[i].failure});
    if (!cells[i].failure.empty()) {
      table->Add({what.name, subjects[i].name, "-", cells[i].failure});
    } else if (subjects[i].name == "no handler") {
      table->Add({what.name, subjects[i].name, Digits(total.median), "-"});
    } else {
      table->Add({what.name,
                  subjects[i].name,
                  Digits(total.median),
                  Digits(more.median),
                  Digits(more.min),
                  Digits(more.max),
                  core > 0 ? Digits(more.median / core) : "-"});
    }
  }
}

int Run(const Options& options, uint32_t libraries) {
  const std::vector<Subject> subjects = ChosenSubjects(options);
  TargetRunner runner(options.directory);
  Yardsticks yardsticks;
  Table table({"case",
               "subject",
               "total ms",
               "added ms",
               "least",
               "most",
               "x core dump"},
              2);
  std::vector<Row> rows;
  bool failed = false;
  for (const Case& what : CasesOf(options, libraries)) {
    std::vector<Cell> cells;
    Measure(&runner, what, subjects, options.runs, &yardsticks, &cells);
    AddRows(what, subjects, cells, &table, &rows);
    for (const Cell& cell : cells) {
      failed = failed || !cell.failure.empty();
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
  CLI::App app(
      "Time from a fault to the end of the process, against no handler");
  cairn::bench::Options options;
  uint32_t libraries = 0;
  cairn::bench::AddCommonOptions(&app, &options);
  cairn::bench::AddThreadsOption(&app, &options);
  app.add_option("--libraries",
                 libraries,
                 "A case more: one thread, and this many loaded libraries");
  CLI11_PARSE(app, argc, argv);
  return cairn::bench::Run(options, libraries);
}
