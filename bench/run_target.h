// SPDX-License-Identifier: Apache-2.0
//
// Starts a target (bench/target/) in a directory of its own, waits for its end,
// and tells what was seen from outside and what it said itself.
#ifndef CAIRN_BENCH_RUN_TARGET_H_
#define CAIRN_BENCH_RUN_TARGET_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/target/page.h"

namespace cairn::bench {

// One way to deal with a crash.
struct Subject {
  std::string name;
  std::string program;  // the target linked with it
  bool core;            // RLIMIT_CORE unlimited
  std::string ending;   // how its report's file name begins or ends; "": none
};

struct Load {
  uint32_t threads = 1;
  uint32_t libraries = 0;
  bool no_stack_bytes = false;
  bool crash = true;
};

struct Outcome {
  std::string failure;             // "": it ran as it should
  double added_from_fault_ms = 0;  // fault to wait4's return
  double start_to_end_ms = 0;      // before the start to wait4's return
  double install_us = 0;
  double install_resident_kib = 0;  // by the install call
  double resident_kib = 0;          // whole process, behind install
  uint64_t report_bytes = 0;        // length of the file
  uint64_t report_disk_bytes = 0;   // its blocks
};

class TargetRunner {
 public:
  // Everything is kept below `parent`, in a new directory that the destructor
  // removes.
  explicit TargetRunner(const std::string& parent);
  ~TargetRunner();
  TargetRunner(const TargetRunner&) = delete;
  TargetRunner& operator=(const TargetRunner&) = delete;

  // In a fresh directory, removed afterwards, unless `kept_directory` names one
  // below ours that stays.
  Outcome Run(const Subject& subject,
              const Load& load,
              const std::string& kept_directory = "");

 private:
  void MakeLibraries(uint32_t count);
  Outcome Start(const Subject& subject, const std::string& directory);
  void FindReport(const Subject& subject,
                  const std::string& directory,
                  Outcome* outcome) const;

  std::filesystem::path base_;
  int page_fd_ = -1;
  Page* page_ = nullptr;
  uint32_t libraries_ = 0;
  uint64_t runs_ = 0;
};

// No handler, the kernel's core dump, Cairn, and Breakpad where it was built.
std::vector<Subject> AllSubjects();

// "" if Breakpad is among them, else why not.
std::string WhyNoBreakpad();

}  // namespace cairn::bench

#endif  // CAIRN_BENCH_RUN_TARGET_H_
