// SPDX-License-Identifier: Apache-2.0
//
// Walks records, keeps track of groups, and hands what is sound in shape to a
// ModelBuilder.
//
//   Walk → (per record) Begin | End | Put
//
// Checked here, so that the builder need not: every known field has the kind of
// the table and stands in its own group; numbers fill their payload; groups end
// with the right checksum. A record in the wrong group closes the groups whose
// end was lost. Unknown fields are skipped by length and are no problem: a
// later version wrote them.
//
// Ordinary code. Each byte is looked at once, and once more per group around it
// (at most format::kMaxGroupDepth) for the checksum.
#ifndef CAIRN_REPORT_RECORD_WALKER_H_
#define CAIRN_REPORT_RECORD_WALKER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/field_table.h"
#include "report/model_builder.h"
#include "report/problem_list.h"
#include "report/record_cursor.h"

namespace cairn::report {

class RecordWalker {
 public:
  // Keeps references to all three while it lives.
  RecordWalker(const uint8_t* file,
               ModelBuilder* builder,
               ProblemList* problems)
      : file_(file), builder_(builder), problems_(problems) {}

  // Reads the records in [begin, end) of the file.
  void Walk(size_t begin, size_t end);

 private:
  struct Open {
    uint16_t field;
    size_t start;  // of the begin record
    bool used;     // false: unknown or misplaced, its contents are skipped
  };

  void Handle(const Record& record);
  void Begin(const Record& record, const FieldInfo* info);
  void End(const Record& record);
  void Put(const Record& record, const FieldInfo& info);
  bool Place(const Record& record, const FieldInfo& info);
  void CloseUnfinished(size_t depth, size_t offset);

  const uint8_t* file_;
  ModelBuilder* builder_;
  ProblemList* problems_;
  std::vector<Open> open_;
  uint64_t excess_depth_ = 0;
};

}  // namespace cairn::report

#endif  // CAIRN_REPORT_RECORD_WALKER_H_
