// SPDX-License-Identifier: Apache-2.0
#include "bench/json_output.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "bench/summary.h"

namespace cairn::bench {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void Put(Writer* json, const char* key, const std::string& value) {
  json->Key(key);
  json->String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}

void PutSamples(Writer* json,
                const std::string& name,
                const std::vector<double>& samples) {
  const Summary summary = Summarize(samples);
  json->Key(name.c_str());
  json->StartObject();
  json->Key("median");
  json->Double(summary.median);
  json->Key("min");
  json->Double(summary.min);
  json->Key("max");
  json->Double(summary.max);
  json->Key("samples");
  json->StartArray();
  for (const double sample : samples) {
    json->Double(sample);
  }
  json->EndArray();
  json->EndObject();
}

void PutRow(Writer* json, const Row& row) {
  json->StartObject();
  for (const auto& [name, value] : row.names) {
    Put(json, name.c_str(), value);
  }
  for (const auto& [name, value] : row.numbers) {
    json->Key(name.c_str());
    json->Double(value);
  }
  for (const auto& [name, samples] : row.samples) {
    PutSamples(json, name, samples);
  }
  if (!row.failure.empty()) {
    Put(json, "failure", row.failure);
  }
  json->EndObject();
}

}  // namespace

std::string JsonOutput(const Machine& machine,
                       const Yardsticks& yardsticks,
                       int runs,
                       const std::vector<Row>& rows) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  json.SetMaxDecimalPlaces(6);
  json.StartObject();
  json.Key("machine");
  json.StartObject();
  json.Key("cores");
  json.Uint(machine.cores);
  Put(&json, "cpu", machine.cpu);
  Put(&json, "kernel", machine.kernel);
  Put(&json, "core_pattern", machine.core_pattern);
  json.EndObject();
  json.Key("runs");
  json.Int(runs);
  json.Key("yardsticks");
  json.StartObject();
  PutSamples(&json, "fork_exit_us", yardsticks.fork_exit_us());
  PutSamples(&json, "cpu_loop_us", yardsticks.cpu_loop_us());
  json.EndObject();
  json.Key("rows");
  json.StartArray();
  for (const Row& row : rows) {
    PutRow(&json, row);
  }
  json.EndArray();
  json.EndObject();
  return buffer.GetString();
}

}  // namespace cairn::bench
