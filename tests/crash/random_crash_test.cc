// SPDX-License-Identifier: Apache-2.0
//
// Random crashes: a random case of the crash list in a random surrounding. No
// report may be missing, nothing may hang, the exit status must be right, and
// the crashed stack what the child said.
//
//   random_crash_test [--seed N] [--count N] [--first N]
//
// Crash number I of a seed is always the same one. A failure prints the command
// that repeats it and keeps the report's directory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>

#include "tests/crash/crash_checks.h"

namespace cairn::crash {
namespace {

struct Plan {
  const Case* crash;
  bool preloaded;
  std::vector<std::string> options;
  bool descriptors_used = false;
  std::optional<bool> core;
};

// One in `count`. By modulo, so that every C++ library draws the same.
uint64_t Draw(std::mt19937_64* random, uint64_t count) {
  return (*random)() % count;
}

// A plain file name: then RLIMIT_CORE alone decides. A pipe ignores it.
bool CoresAreFiles() {
  std::ifstream pattern("/proc/sys/kernel/core_pattern");
  return pattern.get() != '|';
}

// What the preload cannot have: it stands before main, so no handler is
// earlier, and it calls nobody back.
bool NeedsLinking(const std::string& name) {
  return name.rfind("earlier_handler", 0) == 0 || name == "callback_crashes";
}

void DrawThreads(std::mt19937_64* random, std::vector<std::string>* options) {
  static constexpr const char* kCounts[] = {"0", "0", "1", "7", "40", "200"};
  static constexpr const char* kStacks[] = {"0", "32768", "65536"};
  options->push_back(std::string("threads=") + kCounts[Draw(random, 6)]);
  options->push_back(std::string("threads_stack=") + kStacks[Draw(random, 3)]);
  options->push_back("busy=" + std::to_string(Draw(random, 3)));
  options->push_back("blocked=" + std::to_string(Draw(random, 2)));
}

Plan MakePlan(uint64_t seed) {
  std::mt19937_64 random(seed);
  Plan plan = {};
  plan.crash = &kCases[Draw(&random, std::size(kCases))];
  const std::string name = plan.crash->name;
  plan.preloaded = Draw(&random, 3) == 0 && !NeedsLinking(name);
  DrawThreads(&random, &plan.options);
  const bool core = Draw(&random, 8) == 0;
  plan.options.push_back(core ? "core=unlimited" : "core=0");
  if (CoresAreFiles()) {
    plan.core = core && name != "not_dumpable";
  }
  if (Draw(&random, 4) == 0 && !NeedsLinking(name) && !plan.preloaded) {
    plan.options.push_back("handler=chained");
  }
  // One case closes the descriptors itself, one needs one to crash with.
  if (Draw(&random, 8) == 0 && name != "all_descriptors_closed" &&
      name != "truncated_mapping") {
    plan.options.push_back("descriptors=used");
    plan.descriptors_used = true;
  }
  return plan;
}

class RandomCrash : public CrashChecks {
 public:
  RandomCrash(uint64_t seed, uint64_t number)
      : seed_(seed), number_(number), plan_(MakePlan(seed + number)) {}

  void TestBody() override {
    Run(Program(plan_.preloaded ? "crasher_preloaded" : "crasher"),
        plan_.options,
        {});
    expect_.core = plan_.core;
    expect_.threads = !Has(kNoThreads);
    expect_.states = false;  // on a busy machine a thread may just be starting
    expect_.everyone_told = !plan_.preloaded;
    expect_.sayings = !plan_.preloaded || !plan_.descriptors_used;
    CheckAll();
    if (HasFailure()) {
      child_->keep = true;
      Print();
    }
  }

 protected:
  const Case& crash() const override { return *plan_.crash; }

 private:
  void Print() const {
    std::cout << plan_.crash->name << (plan_.preloaded ? ", preloaded" : "");
    for (const std::string& option : plan_.options) {
      std::cout << " " << option;
    }
    std::cout << "\nstatus: " << std::hex << child_->status << std::dec
              << "\nkept: " << child_->directory
              << "\nagain: " << Program("random_crash_test") << " --seed "
              << seed_ << " --first " << number_ << " --count 1" << std::endl;
  }

  uint64_t seed_;
  uint64_t number_;
  Plan plan_;
};

// The word behind `name` on the command line.
uint64_t Argument(int argc, char** argv, const char* name, uint64_t otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) {
      return std::strtoull(argv[i + 1], nullptr, 10);
    }
  }
  return otherwise;
}

void RegisterAll(int argc, char** argv) {
  const char* full = std::getenv("CAIRN_TEST_FULL");
  const bool all = full != nullptr && std::strcmp(full, "1") == 0;
  const uint64_t seed =
      Argument(argc, argv, "--seed", std::random_device{}() % 1000000);
  const uint64_t first = Argument(argc, argv, "--first", 0);
  const uint64_t count = Argument(argc, argv, "--count", all ? 20000 : 500);
  std::cout << "random_crash_test: --seed " << seed << " --first " << first
            << " --count " << count << std::endl;
  for (uint64_t i = first; i < first + count; ++i) {
    testing::RegisterTest(
        "RandomCrash",
        std::to_string(i).c_str(),
        nullptr,
        nullptr,
        __FILE__,
        __LINE__,
        [=]() -> CrashChecks* { return new RandomCrash(seed, i); });
  }
}

}  // namespace
}  // namespace cairn::crash

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  cairn::crash::RegisterAll(argc, argv);
  return RUN_ALL_TESTS();
}
