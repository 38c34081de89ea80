// SPDX-License-Identifier: Apache-2.0
//
// Records in their groups → Report. The walker has checked shape and place;
// here stands what each field means.
//
//   Begin(Thread) Put(ThreadId) Put(ThreadFrames) … End(Thread) … Finish()
//
// Ordinary code. Hostile input: everything kept is charged against one budget
// of kMaxModelBytes; what is over it is dropped and named once.
#ifndef CAIRN_REPORT_MODEL_BUILDER_H_
#define CAIRN_REPORT_MODEL_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/report_format.h"
#include "report/frame_trie.h"
#include "report/problem_list.h"
#include "report/register_chain.h"
#include "report/report.h"

namespace cairn::report {

// What a report may grow to in memory, apart from the frames, which have limits
// of their own (report/frame_trie.h).
inline constexpr size_t kMaxModelBytes = 128u << 20;

// A record's payload. `number` is set for numbers (a signed one in two's
// complement); `data` is valid while the file's bytes are.
struct Value {
  format::Field field{};
  uint64_t number = 0;
  const uint8_t* data = nullptr;
  size_t bytes = 0;
  size_t offset = 0;  // in the file
};

class ModelBuilder {
 public:
  // Keeps both pointers while it lives.
  ModelBuilder(Report* report, ProblemList* problems)
      : report_(report), problems_(problems) {}

  void Begin(format::Field group, size_t offset);
  void Put(const Value& value, format::Field parent);
  // `sound`: the group has its end and the right checksum.
  void End(format::Field group, bool sound, size_t offset);
  // After the last record: expands stacks, puts names onto frames.
  void Finish();

 private:
  bool MakeEntry(format::Field group, size_t offset);
  void PutApp(const Value& value);
  void PutHost(const Value& value);
  void PutProcess(const Value& value);
  void PutEvent(const Value& value);
  void PutSignal(const Value& value);
  void PutMach(const Value& value);
  void PutException(const Value& value);
  void PutImage(const Value& value);
  void PutSegments(const Value& value);
  void PutThread(const Value& value);
  void PutFrames(const Value& value);
  void PutGap(const Value& value);
  void ContinueFirstThread();
  void PutStack(const Value& value);
  void PutMemory(const Value& value);
  void PutKey(const Value& value);
  void PutBreadcrumb(const Value& value);
  void PutCut(const Value& value);
  void PutStage(const Value& value);
  void PutSymbol(const Value& value);
  void PutSymbolNodes(const Value& value);
  void PutSymbolFrame(const Value& value);
  void PutSymbolsImage(const Value& value);

  std::string Text(const Value& value);
  std::vector<uint8_t> Bytes(const Value& value);
  // Appends an empty entry to `list`, or returns false when over the budget.
  template <typename T>
  bool Grow(std::vector<T>* list, size_t offset);
  bool Charge(size_t bytes, size_t offset);

  void ExpandStacks();
  void CrashedFirst();
  void MarkUnloaded();
  void NameFrames();

  Report* report_;
  ProblemList* problems_;
  size_t charged_ = 0;
  bool over_budget_ = false;
  // Per open group: whether what it describes has a place in the report.
  std::vector<bool> open_;

  FrameTrie trie_;
  RegisterChain registers_;
  struct Stack {
    size_t thread;
    uint32_t leaf;
    size_t offset;  // of the record
  };
  std::vector<Stack> stacks_;
  bool trie_broken_ = false;
  std::vector<uint64_t> unloaded_;
  size_t sound_unloaded_ = 0;  // entries before the open group
  std::optional<uint64_t> event_pid_;

  // Node → index + 1 in symbols_.
  std::vector<uint32_t> symbols_of_node_;
  std::vector<std::vector<SymbolFrame>> symbols_;
};

}  // namespace cairn::report

#endif  // CAIRN_REPORT_MODEL_BUILDER_H_
