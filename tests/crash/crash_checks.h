// SPDX-License-Identifier: Apache-2.0
//
// Runs one case of the crash list and compares its report, read with the
// shipped reader, with what the child said of itself, with nm, and with the
// list. Shared by the tests that run the list as it is and those that run it in
// a surrounding of their own.
#ifndef CAIRN_TESTS_CRASH_CRASH_CHECKS_H_
#define CAIRN_TESTS_CRASH_CRASH_CHECKS_H_

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "report/reader.h"
#include "tests/crash/child.h"
#include "tests/crash/crash_list.h"

namespace cairn::crash {

// What a surrounding changes in what is expected.
struct Expectation {
  format::FrozenBy others = format::FrozenBy::kPtrace;
  bool threads = true;        // the other threads are in the report
  bool names = true;          // and with their names and states
  bool states = true;         // each had come to rest, or was busy, for long
  bool sayings = true;        // app id, key and breadcrumb
  bool everyone_told = true;  // each of several that crash
  std::optional<bool> core;   // the process leaves a core dump
};

class CrashChecks : public testing::Test {
 protected:
  virtual const Case& crash() const = 0;
  bool Has(unsigned flag) const { return (crash().flags & flag) != 0; }

  // Starts the crasher with `options` behind the name of the case.
  void Run(const std::string& program,
           const std::vector<std::string>& options,
           const std::vector<std::string>& environment);
  // Everything below, as far as `expect` has it.
  void CheckAll();

  // How the process ended.
  void CheckDeath();
  // Exactly one whole report; slots that nobody used are gone with the process
  // or left for reaping.
  void ReadOnlyReport();
  void CheckSignal();
  void CheckSayings();
  // The crashed thread is first, is the child's, and its stack is the child's
  // own: behind the crash function every return address equals glibc's
  // backtrace.
  void CheckCrashedStack();
  void CheckOtherThreads();
  void CheckFacts();
  // The bytes that the child says stand near a register or the fault; what it
  // says must be cut, and nothing else for want of time.
  void CheckNearMemory();

  Expectation expect_;
  std::string program_;
  std::optional<Child> child_;
  report::Report report_;

 private:
  void CheckDepth(const report::Thread& thread);
  void CheckBacktrace(const report::Thread& thread);
  void CheckOtherThread(const std::string& line,
                        const char* function,
                        char state);
  void CheckSeveral();
  std::string FunctionOf(const report::Frame& frame) const;
  std::string Describe(const report::Thread& thread) const;
};

// build/bin/NAME
std::string Program(const std::string& name);

}  // namespace cairn::crash

#endif  // CAIRN_TESTS_CRASH_CRASH_CHECKS_H_
