// SPDX-License-Identifier: Apache-2.0
//
// The JSON object of a report as calls on a sink; json.cc has the writer.
#ifndef CAIRN_REPORT_JSON_SECTIONS_H_
#define CAIRN_REPORT_JSON_SECTIONS_H_

#include <cstdint>
#include <string_view>

#include "report/json.h"
#include "report/report.h"

namespace cairn::report {

class JsonSink {
 public:
  virtual ~JsonSink() = default;
  virtual void Key(std::string_view name) = 0;
  // Must be valid UTF-8.
  virtual void String(std::string_view text) = 0;
  virtual void Unsigned(uint64_t number) = 0;
  virtual void Signed(int64_t number) = 0;
  virtual void Bool(bool value) = 0;
  virtual void StartObject() = 0;
  virtual void EndObject() = 0;
  virtual void StartArray() = 0;
  virtual void EndArray() = 0;
  // More has been written than a report of the field ever needs: a hostile file
  // repeats long names. Frames that would follow are left out.
  virtual bool IsFull() const = 0;
};

void WriteReport(const Report& report,
                 const JsonOptions& options,
                 JsonSink* sink);

// Parts, each a member with its key; nothing when there is nothing to say.
void WriteThreads(const Report& report,
                  const JsonOptions& options,
                  JsonSink* sink);
void WriteImages(const Report& report, JsonSink* sink);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_JSON_SECTIONS_H_
