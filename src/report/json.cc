// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string_view>

#include "report/json_sections.h"

namespace cairn::report {
namespace {

constexpr size_t kFullBytes = 128u << 20;

// Strings are mended before they get here, so the writer has nothing to refuse.
template <typename Writer>
class RapidSink : public JsonSink {
 public:
  RapidSink(Writer* writer, const rapidjson::StringBuffer& buffer)
      : writer_(writer), buffer_(buffer) {}
  void Key(std::string_view name) override {
    writer_->Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
  }
  void String(std::string_view text) override {
    writer_->String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  void Unsigned(uint64_t number) override { writer_->Uint64(number); }
  void Signed(int64_t number) override { writer_->Int64(number); }
  void Bool(bool value) override { writer_->Bool(value); }
  void StartObject() override { writer_->StartObject(); }
  void EndObject() override { writer_->EndObject(); }
  void StartArray() override { writer_->StartArray(); }
  void EndArray() override { writer_->EndArray(); }
  bool IsFull() const override { return buffer_.GetSize() > kFullBytes; }

 private:
  Writer* writer_;
  const rapidjson::StringBuffer& buffer_;
};

template <typename Writer>
void WriteAll(const Report& report,
              const JsonOptions& options,
              const rapidjson::StringBuffer& buffer,
              Writer* writer) {
  RapidSink<Writer> sink(writer, buffer);
  WriteReport(report, options, &sink);
}

}  // namespace

std::string ToJson(const Report& report, const JsonOptions& options) {
  rapidjson::StringBuffer buffer;
  if (options.pretty) {
    rapidjson::PrettyWriter<rapidjson::StringBuffer> writer(buffer);
    writer.SetIndent(' ', 2);
    WriteAll(report, options, buffer, &writer);
  } else {
    rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
    WriteAll(report, options, buffer, &writer);
  }
  return {buffer.GetString(), buffer.GetSize()};
}

std::string ToJsonMembers(const Report& report, const JsonOptions& options) {
  const std::string object = ToJson(report, options);
  return object.substr(1, object.size() - 2);
}

}  // namespace cairn::report
