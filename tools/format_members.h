// SPDX-License-Identifier: Apache-2.0
//
// The JSON object of a report, member by member: docs/report.schema.json and
// the tables of docs/report-format.md are printed from here, and a test holds
// both, and what `cairn show --json` prints, against it.
#ifndef CAIRN_TOOLS_FORMAT_MEMBERS_H_
#define CAIRN_TOOLS_FORMAT_MEMBERS_H_

#include <string>
#include <vector>

namespace cairn::tools {

// `type` is one of
//   string integer boolean   as in JSON
//   hex                      "0x…", 64 bits
//   bytes                    hexadecimal digits, two a byte
//   time                     RFC 3339, UTC
//   uuid                     8-4-4-4-12, lower case
//   texts                    an object of strings
//   =NAME                    an enumeration of format/report_format.h
//   NAME                     an object of this table
// and `list` tells that it is an array of them.
struct Member {
  const char* object;
  const char* name;
  const char* type;
  bool list;
  bool required;
  const char* text;
};

const std::vector<Member>& Members();

// The words of an enumeration, as they stand in JSON.
const std::vector<std::string>& WordsOf(const std::string& enumeration);

// Each printed on standard output.
void PrintMarkdown();
void PrintSchema();
void PrintExample();

}  // namespace cairn::tools

#endif  // CAIRN_TOOLS_FORMAT_MEMBERS_H_
