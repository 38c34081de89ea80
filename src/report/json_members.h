// SPDX-License-Identifier: Apache-2.0
//
// Members of a JSON object that are left out when unknown, and the texts that
// stand in them.
#ifndef CAIRN_REPORT_JSON_MEMBERS_H_
#define CAIRN_REPORT_JSON_MEMBERS_H_

#include <optional>
#include <string>

#include "report/hex.h"
#include "report/json_sections.h"
#include "report/utf8.h"

namespace cairn::report {

class Members {
 public:
  explicit Members(JsonSink* sink) : sink_(sink) {}

  void Text(const char* name, const std::string& text) const {
    if (!text.empty()) {
      sink_->Key(name);
      sink_->String(MendUtf8(text));
    }
  }
  // An enumeration's name; the one of a value from a later version is left out.
  void Word(const char* name, const std::string& word) const {
    if (word != "unknown") {
      Text(name, word);
    }
  }
  void Number(const char* name, uint64_t number) const {
    sink_->Key(name);
    sink_->Unsigned(number);
  }
  void Number(const char* name, const std::optional<uint64_t>& number) const {
    if (number) {
      Number(name, *number);
    }
  }
  void Signed(const char* name, int64_t number) const {
    sink_->Key(name);
    sink_->Signed(number);
  }
  void Signed(const char* name, const std::optional<int64_t>& number) const {
    if (number) {
      Signed(name, *number);
    }
  }
  void Bool(const char* name, bool value) const {
    sink_->Key(name);
    sink_->Bool(value);
  }
  void Address(const char* name, uint64_t address) const {
    Text(name, HexNumber(address));
  }

 private:
  JsonSink* sink_;
};

// A member that is an object or an array, closed on every path.
class ScopedObject {
 public:
  ScopedObject(JsonSink* sink, const char* name) : sink_(sink) {
    sink_->Key(name);
    sink_->StartObject();
  }
  explicit ScopedObject(JsonSink* sink) : sink_(sink) { sink_->StartObject(); }
  ~ScopedObject() { sink_->EndObject(); }
  ScopedObject(const ScopedObject&) = delete;
  ScopedObject& operator=(const ScopedObject&) = delete;

 private:
  JsonSink* sink_;
};

class ScopedArray {
 public:
  ScopedArray(JsonSink* sink, const char* name) : sink_(sink) {
    sink_->Key(name);
    sink_->StartArray();
  }
  ~ScopedArray() { sink_->EndArray(); }
  ScopedArray(const ScopedArray&) = delete;
  ScopedArray& operator=(const ScopedArray&) = delete;

 private:
  JsonSink* sink_;
};

}  // namespace cairn::report

#endif  // CAIRN_REPORT_JSON_MEMBERS_H_
