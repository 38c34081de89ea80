// SPDX-License-Identifier: Apache-2.0
//
// PUT of a report: MayPut → encoding → body, up to the limit → Ingest → answer.
#include <strings.h>

#include "auth.h"
#include "clock.h"
#include "routes.h"

namespace cairn::server {
namespace {

constexpr std::string_view kReports = "/api/v1/reports/";
// What is read and thrown away, so that a sender can read the answer before the
// connection closes under it; and for how long a body is waited for.
constexpr uint64_t kMaxDrainBytes = 256u << 20;
constexpr uint64_t kMaxBodyMs = 60'000;

enum class BodyStatus { kWhole, kTooLarge, kBroken };

// Reads the body as it comes. Keeps at most `max_bytes`.
BodyStatus ReadBody(const httplib::ContentReader& reader,
                    uint64_t max_bytes,
                    std::string* body) {
  uint64_t seen = 0;
  const uint64_t limit_ms = SteadyMs() + kMaxBodyMs;
  bool whole = reader([&](const char* bytes, size_t size) {
    seen += size;
    if (seen <= max_bytes) {
      body->append(bytes, size);
    } else {
      std::string().swap(*body);
    }
    return seen <= max_bytes + kMaxDrainBytes && SteadyMs() < limit_ms;
  });
  if (seen > max_bytes) {
    return BodyStatus::kTooLarge;
  }
  return whole ? BodyStatus::kWhole : BodyStatus::kBroken;
}

void Drain(const httplib::ContentReader& reader) {
  std::string nothing;
  ReadBody(reader, 0, &nothing);
}

void Acknowledge(httplib::Response* response, int status, const char* json) {
  response->status = status;
  response->set_content(json, "application/json");
}

void AnswerIngest(httplib::Response* response, IngestStatus status) {
  switch (status) {
    case IngestStatus::kNew:
      return Acknowledge(response, 201, "{\"stored\":\"new\"}");
    case IngestStatus::kSame:
      return Acknowledge(response, 200, "{\"stored\":\"before\"}");
    case IngestStatus::kDifferent:
      return Answer(response,
                    409,
                    "this uuid is taken by other bytes",
                    "do not send it again; the first one is kept");
    case IngestStatus::kNotAReport:
      return Answer(response,
                    400,
                    "the body is no report",
                    "send the bytes of a .cairn file");
    case IngestStatus::kWrongUuid:
      return Answer(response,
                    400,
                    "the report's uuid is not the address's",
                    "put it under the uuid in its header");
    case IngestStatus::kTruncated:
      return Answer(
          response, 400, "the gzip stream ends early", "send the whole body");
    case IngestStatus::kBroken:
      return Answer(response,
                    400,
                    "the body is not one whole gzip stream",
                    "send gzip with Content-Encoding: gzip, or plain bytes "
                    "without");
    case IngestStatus::kTooLarge:
      return Answer(response,
                    413,
                    "the report is too large",
                    "send less, or raise --max-report-bytes");
    case IngestStatus::kNoRoom:
      return Answer(response,
                    507,
                    "the server's disk is full",
                    "make room for --data; send it again later");
    case IngestStatus::kFailed:
      break;
  }
  Answer(response,
         503,
         "the report could not be kept",
         "see the server's log; send it again later");
}

}  // namespace

bool Routes::MayPut(const httplib::Request& request,
                    httplib::Response* response) {
  if (!MayBeCalled(request, options_.token, response)) {
    return false;
  }
  uint32_t wait_s = rate_limit_.Take(request.remote_addr, SteadyMs());
  if (wait_s != 0) {
    response->set_header("Retry-After", std::to_string(wait_s));
    Answer(response,
           429,
           "too many reports from this address",
           "wait as long as Retry-After says");
    return false;
  }
  if (!options_.token.empty() &&
      !HasBearer(request.get_header_value("Authorization"), options_.token)) {
    response->set_header("WWW-Authenticate", "Bearer realm=\"cairn\"");
    Answer(response,
           401,
           "the token is missing or wrong",
           "send Authorization: Bearer with the server's token");
    return false;
  }
  return true;
}

void Routes::Put(const httplib::Request& request,
                 httplib::Response* response,
                 const httplib::ContentReader& reader) {
  if (!MayPut(request, response)) {
    return Drain(reader);
  }
  std::string_view path = request.path;
  bool known = path.starts_with(kReports);
  auto uuid = known
                  ? report::ParseUuid(std::string(path.substr(kReports.size())))
                  : std::nullopt;
  if (!uuid) {
    Answer(response,
           known ? 400 : 404,
           "no report can be put here",
           "use /api/v1/reports/ and the report's uuid, 8-4-4-4-12");
    return Drain(reader);
  }
  std::string encoding = request.get_header_value(kSentEncoding);
  bool gzip = strcasecmp(encoding.c_str(), "gzip") == 0;
  if (!gzip && !encoding.empty() &&
      strcasecmp(encoding.c_str(), "identity") != 0) {
    Answer(response,
           415,
           "this Content-Encoding is not understood",
           "send gzip or identity");
    return Drain(reader);
  }
  std::string body;
  switch (ReadBody(reader, options_.max_body_bytes, &body)) {
    case BodyStatus::kTooLarge:
      return Answer(response,
                    413,
                    "the body is too large",
                    "send less, or raise --max-body-bytes");
    case BodyStatus::kBroken:
      return Answer(response, 400, "the body ended early", "send it again");
    case BodyStatus::kWhole:
      break;
  }
  AnswerIngest(response, ingest_->Put(*uuid, body, gzip));
}

}  // namespace cairn::server
