// SPDX-License-Identifier: Apache-2.0
//
// The field list of format/report_format.h as data: the reader checks records
// against it, and documents are printed from it.
#ifndef CAIRN_REPORT_FIELD_TABLE_H_
#define CAIRN_REPORT_FIELD_TABLE_H_

#include <cstdint>
#include <vector>

#include "format/report_format.h"

namespace cairn::report {

struct FieldInfo {
  format::Field field;
  // kGroupBegin for a group.
  format::Kind kind;
  format::Field parent;
  const char* name;  // "ThreadName"
  const char* text;
};

// Null for a field that this version does not know.
const FieldInfo* FindField(uint16_t id);
// In the order of the definition.
const std::vector<FieldInfo>& AllFields();
// "a group", "an unsigned number": for problems and documents.
const char* KindName(format::Kind kind);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_FIELD_TABLE_H_
