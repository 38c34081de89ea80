// SPDX-License-Identifier: Apache-2.0
#include "client/facts.h"

#include <algorithm>

#include "writer/report_records.h"

namespace cairn::client {
namespace {

using format::Field;
using writer::RecordWriter;
using writer::ScopedGroup;

constexpr size_t kMaxString = 512;
constexpr size_t kMaxArguments = 64;
constexpr size_t kMaxArgumentBytes = 256;

}  // namespace

void Put(RecordWriter* records, Field field, std::string_view text) {
  if (!text.empty()) {
    records->PutString(field, text.data(), std::min(text.size(), kMaxString));
  }
}

void PutApp(RecordWriter* records, const Config& config) {
  ScopedGroup group(records, Field::kApp);
  Put(records, Field::kAppId, config.app_id);
  Put(records, Field::kAppVersion, config.app_version);
  Put(records, Field::kAppBuild, config.app_build);
  Put(records, Field::kAppEnvironment, config.environment);
}

void PutArguments(RecordWriter* records, const std::string& line) {
  size_t count = 0;
  size_t left_out = 0;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find('\0', at), line.size());
    if (count < kMaxArguments) {
      records->PutString(Field::kProcessArgument,
                         line.data() + at,
                         std::min(end - at, kMaxArgumentBytes));
      ++count;
    } else {
      ++left_out;
    }
    at = end + 1;
  }
  if (left_out > 0) {
    writer::PutCut(records, format::CutWhat::kArguments, count, left_out, 0);
  }
}

}  // namespace cairn::client
