// SPDX-License-Identifier: Apache-2.0
//
// For the single-step proof, Linux x86_64: a program that is executed one
// instruction at a time, and its memory and images.
//
// Ordinary code, one thread: the one that called Start.
#ifndef CAIRN_TESTS_UNWIND_STEPPED_PROCESS_H_
#define CAIRN_TESTS_UNWIND_STEPPED_PROCESS_H_

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/image_table.h"
#include "capture/unwinder.h"
#include "safe/memory_reader.h"

namespace cairn::unwind_tests {

enum class Stepped { kInstruction, kSignalHandler, kSystemCallMade, kGone };

class SteppedProcess {
 public:
  SteppedProcess();
  ~SteppedProcess();
  SteppedProcess(const SteppedProcess&) = delete;
  SteppedProcess& operator=(const SteppedProcess&) = delete;

  // Starts a program (found through PATH) without address randomisation, its
  // output thrown away, and stops it before its first instruction: the
  // loader's, or with `from_entry` the program's own.
  bool Start(const std::vector<std::string>& arguments, bool from_entry);
  // Executes one instruction, or goes into a signal handler.
  Stepped Step();

  // Runs at full speed to the next int3 instruction and behind it.
  bool RunToTrap();

  pid_t id() const { return id_; }
  const user_regs_struct& registers() const { return registers_; }
  // The instruction about to be executed is a system call.
  bool AtSystemCall();
  // It is int3.
  bool AtTrap();
  const capture::ImageTable& images() const { return *table_; }
  bool ReadWord(uint64_t address, uint64_t* out);

  // For a walk from where the process stands. Valid until the next Step.
  capture::WalkInput Input(const capture::Registers& registers);
  // How often images came or went.
  uint64_t image_changes() const { return image_changes_; }

 private:
  struct Page {
    uint64_t stamp = 0;  // step at which it was read
    bool is_constant = false;
    uint8_t bytes[4096];
  };

  bool RunToEntry();
  void ReadVectors();
  void KeepImagesFresh();
  void Refresh();
  bool IsConstant(uint64_t address) const;
  Page* PageAt(uint64_t address);
  static size_t ReadPages(void* context, uint64_t, void* out, size_t bytes);

  pid_t id_ = 0;
  user_regs_struct registers_ = {};
  capture::ProcessVectors vectors_ = {};
  uint64_t entry_ = 0;
  std::string path_;
  std::vector<capture::Image> storage_;
  std::unique_ptr<capture::ImageTable> table_;
  std::unique_ptr<uint8_t[]> cache_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t steps_ = 1;
  uint64_t refreshed_at_ = 0;
  uint64_t images_since_ = 1;  // step at which constant pages were forgotten
  uint64_t image_changes_ = 0;
  uint64_t loader_event_ = 0;  // where the loader tells of a change
  int pending_signal_ = 0;
};

}  // namespace cairn::unwind_tests

#endif  // CAIRN_TESTS_UNWIND_STEPPED_PROCESS_H_
