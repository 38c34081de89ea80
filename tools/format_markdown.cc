// SPDX-License-Identifier: Apache-2.0
//
// The generated tables of docs/report-format.md.
#include <cstdio>
#include <string>

#include "format_members.h"
#include "report/field_table.h"

namespace cairn::tools {
namespace {

void PrintFields() {
  std::printf("<!-- fields -->\n");
  std::printf("| id | field | kind | in | what |\n|---|---|---|---|---|\n");
  for (const report::FieldInfo& field : report::AllFields()) {
    const report::FieldInfo* parent =
        report::FindField(static_cast<uint16_t>(field.parent));
    std::printf("| %u | %s | %s | %s | %s |\n",
                static_cast<unsigned>(field.field),
                field.name,
                report::KindName(field.kind),
                parent != nullptr ? parent->name : "",
                field.text);
  }
  std::printf("<!-- end of fields -->\n");
}

struct Value {
  int number;
  const char* word;
};

void PrintValues(const char* name, std::initializer_list<Value> values) {
  std::string words;
  for (const Value& value : values) {
    words += (words.empty() ? "" : ", ") + std::to_string(value.number) + " `" +
             value.word + "`";
  }
  std::printf("| %s | %s |\n", name, words.c_str());
}

void PrintEnumerations() {
  std::printf("<!-- enumerations -->\n");
  std::printf("| enumeration | values |\n|---|---|\n");
#define CAIRN_V(name, value, json) {value, json},
  PrintValues("EventKind", {CAIRN_EVENT_KINDS(CAIRN_V)});
  PrintValues("FaultKind", {CAIRN_FAULT_KINDS(CAIRN_V)});
  PrintValues("FrozenBy", {CAIRN_FROZEN_BYS(CAIRN_V)});
  PrintValues("WalkEnd", {CAIRN_WALK_ENDS(CAIRN_V)});
  PrintValues("FrameTrust", {CAIRN_FRAME_TRUSTS(CAIRN_V)});
  PrintValues("FrameKind", {CAIRN_FRAME_KINDS(CAIRN_V)});
  PrintValues("CutWhat", {CAIRN_CUT_WHATS(CAIRN_V)});
#undef CAIRN_V
  std::printf("<!-- end of enumerations -->\n");
}

std::string TypeWords(const Member& member) {
  std::string type = member.type;
  if (type[0] == '=') {
    std::string words;
    for (const std::string& word : WordsOf(type.substr(1))) {
      words += (words.empty() ? "`" : ", `") + word + "`";
    }
    return words;
  }
  return type + (member.list ? " []" : "");
}

void PrintMembers() {
  std::printf("<!-- members -->\n");
  std::string object;
  for (const Member& member : Members()) {
    if (object != member.object) {
      std::printf("%s**%s**\n\n| member | type | what |\n|---|---|---|\n",
                  object.empty() ? "" : "\n",
                  member.object);
      object = member.object;
    }
    std::printf("| `%s`%s | %s | %s |\n",
                member.name,
                member.required ? " ●" : "",
                TypeWords(member).c_str(),
                member.text);
  }
  std::printf("<!-- end of members -->\n");
}

}  // namespace

void PrintMarkdown() {
  PrintFields();
  PrintEnumerations();
  PrintMembers();
}

}  // namespace cairn::tools
