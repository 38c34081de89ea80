// SPDX-License-Identifier: Apache-2.0
//
// docs/report.schema.json: JSON Schema, draft 2020-12.
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cstdio>
#include <string>

#include "format_members.h"

namespace cairn::tools {
namespace {

using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void Put(Writer* out, const char* key, const std::string& text) {
  out->Key(key);
  out->String(text.c_str());
}

void PutPattern(Writer* out, const char* pattern) {
  Put(out, "type", "string");
  Put(out, "pattern", pattern);
}

// The members of the schema of one value, without its braces.
void PutType(Writer* out, const std::string& type) {
  if (type == "string" || type == "integer" || type == "boolean") {
    Put(out, "type", type);
  } else if (type == "hex") {
    PutPattern(out, "^0x[0-9a-f]{1,16}$");
  } else if (type == "bytes") {
    PutPattern(out, "^([0-9a-f]{2})*$");
  } else if (type == "time") {
    PutPattern(out, "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z$");
  } else if (type == "uuid") {
    PutPattern(out, "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$");
  } else if (type == "texts") {
    Put(out, "type", "object");
    out->Key("additionalProperties");
    out->StartObject();
    Put(out, "type", "string");
    out->EndObject();
  } else if (type[0] == '=') {
    out->Key("enum");
    out->StartArray();
    for (const std::string& word : WordsOf(type.substr(1))) {
      out->String(word.c_str());
    }
    out->EndArray();
  } else {
    Put(out, "$ref", "#/$defs/" + type);
  }
}

void PutMember(Writer* out, const Member& member) {
  out->Key(member.name);
  out->StartObject();
  Put(out, "description", member.text);
  if (member.list) {
    Put(out, "type", "array");
    out->Key("items");
    out->StartObject();
    PutType(out, member.type);
    out->EndObject();
  } else {
    PutType(out, member.type);
  }
  out->EndObject();
}

// An object of the table. `open`: others may add members (the server does).
void PutObject(Writer* out, const std::string& object, bool open) {
  Put(out, "type", "object");
  out->Key("required");
  out->StartArray();
  for (const Member& member : Members()) {
    if (member.object == object && member.required) {
      out->String(member.name);
    }
  }
  out->EndArray();
  out->Key("properties");
  out->StartObject();
  for (const Member& member : Members()) {
    if (member.object == object) {
      PutMember(out, member);
    }
  }
  out->EndObject();
  out->Key("additionalProperties");
  out->Bool(open);
}

}  // namespace

void PrintSchema() {
  rapidjson::StringBuffer buffer;
  Writer out(buffer);
  out.SetIndent(' ', 1);
  out.StartObject();
  Put(&out, "$schema", "https://json-schema.org/draft/2020-12/schema");
  Put(&out, "title", "A crash report as `cairn show --json` prints it");
  PutObject(&out, "report", true);
  out.Key("$defs");
  out.StartObject();
  std::string object = "report";
  for (const Member& member : Members()) {
    if (object != member.object) {
      object = member.object;
      out.Key(object.c_str());
      out.StartObject();
      PutObject(&out, object, false);
      out.EndObject();
    }
  }
  out.EndObject();
  out.EndObject();
  std::printf("%s\n", buffer.GetString());
}

}  // namespace cairn::tools
