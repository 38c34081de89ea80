// SPDX-License-Identifier: Apache-2.0
//
// For tests on Linux x86_64: walks of the own process.
#ifndef CAIRN_TESTS_UNWIND_OWN_WALK_H_
#define CAIRN_TESTS_UNWIND_OWN_WALK_H_

#include <sys/auxv.h>
#include <ucontext.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "capture/fake_memory.h"
#include "capture/unwinder.h"

namespace cairn::unwind_tests {

// The registers of a saved context, in DWARF order.
inline capture::Registers RegistersOf(const ucontext_t& context) {
  static constexpr int kOrder[] = {REG_RAX,
                                   REG_RDX,
                                   REG_RCX,
                                   REG_RBX,
                                   REG_RSI,
                                   REG_RDI,
                                   REG_RBP,
                                   REG_RSP,
                                   REG_R8,
                                   REG_R9,
                                   REG_R10,
                                   REG_R11,
                                   REG_R12,
                                   REG_R13,
                                   REG_R14,
                                   REG_R15,
                                   REG_RIP};
  capture::Registers registers = {
      .architecture = format::Architecture::kX86_64, .valid = 0, .values = {}};
  for (int i = 0; i < 17; ++i) {
    registers.Set(i,
                  static_cast<uint64_t>(context.uc_mcontext.gregs[kOrder[i]]));
  }
  return registers;
}

// The image table of this process, with a rule cache.
class OwnImages {
 public:
  explicit OwnImages(bool with_cache = false)
      : storage_(256), table_(std::make_unique<capture::ImageTable>()) {
    table_->Init(storage_.data(), 256);
    Refresh();
    if (with_cache) {
      cache_ = std::calloc(1, capture::RuleCacheBytes());
    }
  }
  ~OwnImages() { std::free(cache_); }
  OwnImages(const OwnImages&) = delete;
  OwnImages& operator=(const OwnImages&) = delete;

  void Refresh() {
    const capture::ProcessVectors vectors = {getauxval(AT_PHDR),
                                             getauxval(AT_PHNUM),
                                             getauxval(AT_PHENT),
                                             getauxval(AT_BASE),
                                             getauxval(AT_SYSINFO_EHDR),
                                             "/proc/self/exe"};
    RefreshImages(table_.get(), vectors, capture::OwnMemory());
  }
  const capture::ImageTable& table() const { return *table_; }

  capture::WalkInput Input(const capture::Registers& registers) const {
    capture::WalkInput input = {};
    input.registers = &registers;
    input.memory = capture::OwnMemory();
    input.stack_memory = capture::OwnMemory();
    input.images = table_.get();
    input.cache = static_cast<capture::RuleCache*>(cache_);
    return input;
  }

  // Innermost `most` frames; may be called in a signal handler.
  capture::WalkOutput Walk(const capture::Registers& registers,
                           capture::Frame* frames,
                           size_t most) const {
    capture::WalkInput input = Input(registers);
    input.limits.inner_frames = most;
    input.limits.outer_frames = 0;
    capture::WalkOutput output = {};
    output.frames = frames;
    WalkStack(input, &output);
    return output;
  }

 private:
  std::vector<capture::Image> storage_;
  std::unique_ptr<capture::ImageTable> table_;
  void* cache_ = nullptr;
};

}  // namespace cairn::unwind_tests

#endif  // CAIRN_TESTS_UNWIND_OWN_WALK_H_
