// SPDX-License-Identifier: Apache-2.0
//
// What the server does with a request body: inflate, check, decode, group, and
// JSON for a reader. The first byte says whether the body is gzip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "decoder.h"
#include "ingest.h"
#include "report/json.h"

namespace {

constexpr size_t kMaxReportBytes = 1u << 20;

void Decode(std::string_view bytes) {
  std::string why;
  auto report = cairn::server::DecodeReport(bytes, {}, &why);
  if (!report) {
    return;
  }
  auto summary = cairn::server::Summarize(*report);
  if (summary.signature.empty() || summary.title.empty()) {
    std::abort();
  }
  cairn::report::ToJsonMembers(*report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  std::string_view body(reinterpret_cast<const char*>(data + 1), size - 1);
  bool gzip = (data[0] & 1) != 0;
  // The uuid of what is inside, so that the check gets as far as it can.
  std::string bytes;
  cairn::report::Uuid uuid{};
  if (!gzip) {
    uuid = cairn::server::UuidInHeader(body).value_or(uuid);
  }
  auto status =
      cairn::server::CheckBody(uuid, body, gzip, kMaxReportBytes, &bytes);
  if (bytes.size() > kMaxReportBytes) {
    std::abort();
  }
  if (status == cairn::server::IngestStatus::kNew ||
      status == cairn::server::IngestStatus::kWrongUuid) {
    Decode(bytes);
  }
  return 0;
}
