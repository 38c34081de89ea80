// SPDX-License-Identifier: Apache-2.0
//
// Everything that is read. What is put: routes_put.cc.
#include "routes.h"

#include <charconv>

#include "api.h"
#include "assets.h"
#include "auth.h"
#include "clock.h"
#include "host_check.h"
#include "report/json.h"

namespace cairn::server {
namespace {

constexpr std::string_view kApi = "/api/v1/";
constexpr int64_t kDefaultLimit = 50;
constexpr int64_t kMaxLimit = 200;
// How long a reader waits for a report that has just come in.
constexpr int64_t kAwaitMs = 2000;

void SendJson(httplib::Response* response, const std::string& json) {
  response->set_header("Cache-Control", "no-store");
  response->set_content(json, "application/json");
}

void NotFound(httplib::Response* response, std::string_view what) {
  Answer(response,
         404,
         what,
         "check the address; lists are at /api/v1/issues "
         "and /api/v1/reports");
}

// A whole number from 0 in decimal digits.
bool ParseId(std::string_view text, int64_t* id) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, *id);
  return error == std::errc() && stop == end && *id >= 0;
}

// The list's parameters; false: answered.
bool ReadPaging(const httplib::Request& request,
                bool (*parse)(const std::string&, Cursor*),
                Cursor* cursor,
                int64_t* limit,
                httplib::Response* response) {
  *limit = kDefaultLimit;
  std::string text = request.get_param_value("limit");
  if (!text.empty() &&
      (!ParseId(text, limit) || *limit < 1 || *limit > kMaxLimit)) {
    Answer(response, 400, "limit is out of range", "give 1 to 200");
    return false;
  }
  if (!parse(request.get_param_value("before"), cursor)) {
    Answer(response,
           400,
           "before is no cursor",
           "give the \"next\" of the page before, or nothing");
    return false;
  }
  return true;
}

// One row more than asked for tells that there are more.
template <typename Row>
bool DropExtra(std::vector<Row>* rows, int64_t limit) {
  bool more = rows->size() > static_cast<size_t>(limit);
  if (more) {
    rows->pop_back();
  }
  return more;
}

const Asset* FindAsset(std::string_view path) {
  for (const Asset& asset : Assets()) {
    if (asset.path == path) {
      return &asset;
    }
  }
  return nullptr;
}

// The addresses at which the viewer shows something; others are 404.
bool IsPage(std::string_view path) {
  int64_t id = 0;
  constexpr std::string_view issue = "/issues/";
  constexpr std::string_view report = "/reports/";
  return path == "/" || path == "/reports" ||
         (path.starts_with(issue) && ParseId(path.substr(issue.size()), &id)) ||
         (path.starts_with(report) &&
          report::ParseUuid(std::string(path.substr(report.size()))));
}

int64_t Today() {
  return UnixMs() / Store::kDayMs;
}

}  // namespace

void Answer(httplib::Response* response,
            int status,
            std::string_view error,
            std::string_view remedy) {
  response->status = status;
  SendJson(response, ErrorJson(error, remedy));
}

Routes::Routes(const Options& options,
               ReportFiles* files,
               Store* store,
               Ingest* ingest,
               Decoder* decoder)
    : options_(options),
      files_(files),
      store_(store),
      ingest_(ingest),
      decoder_(decoder),
      rate_limit_(options.reports_per_minute) {}

bool Routes::Refuse(const httplib::Request& request,
                    httplib::Response* response) {
  if (request.method == "GET" || request.method == "HEAD" ||
      request.method == "PUT") {
    return false;
  }
  response->set_header("Allow", "GET, HEAD, PUT");
  Answer(response, 405, "this method is not served", "use GET, HEAD or PUT");
  return true;
}

bool Routes::MayBeCalled(const httplib::Request& request,
                         const std::string& token,
                         httplib::Response* response) {
  const std::string host = request.get_header_value("Host");
  if (!ChecksHosts(options_, token) || NamesThisServer(host, options_)) {
    return true;
  }
  Answer(response,
         421,
         "this server is not called that",
         "call it localhost, or start it with --allow-host and the name that "
         "is meant");
  return false;
}

bool Routes::MayRead(const httplib::Request& request,
                     httplib::Response* response) {
  if (!MayBeCalled(request, options_.read_token, response)) {
    return false;
  }
  std::string header = request.get_header_value("Authorization");
  if (options_.read_token.empty() || HasBearer(header, options_.read_token) ||
      HasPassword(header, options_.read_token)) {
    return true;
  }
  response->set_header("WWW-Authenticate", "Basic realm=\"cairn\"");
  Answer(response,
         401,
         "reading needs the read token",
         "give it as password (any user name), or as Authorization: Bearer");
  return false;
}

void Routes::Get(const httplib::Request& request, httplib::Response* response) {
  std::string_view path = request.path;
  if (path == "/healthz") {
    store_->Count();
    SendJson(response, "{\"ok\":true}");
  } else if (MayRead(request, response)) {
    if (path.starts_with(kApi)) {
      GetApi(path.substr(kApi.size()), request, response);
    } else {
      GetPage(path, response);
    }
  }
}

void Routes::GetApi(std::string_view path,
                    const httplib::Request& request,
                    httplib::Response* response) {
  constexpr std::string_view issue = "issues/";
  constexpr std::string_view report = "reports/";
  constexpr std::string_view raw = "/raw";
  if (path == "issues") {
    GetIssues(request, response);
  } else if (path == "reports") {
    GetReports(request, response);
  } else if (path.starts_with(issue)) {
    GetIssue(path.substr(issue.size()), response);
  } else if (path.starts_with(report) && path.ends_with(raw)) {
    path.remove_suffix(raw.size());
    GetRaw(path.substr(std::min(path.size(), report.size())), response);
  } else if (path.starts_with(report)) {
    GetReport(path.substr(report.size()), response);
  } else {
    NotFound(response, "no such address");
  }
}

void Routes::GetIssues(const httplib::Request& request,
                       httplib::Response* response) {
  Cursor cursor;
  int64_t limit = 0;
  if (!ReadPaging(request, ParseIssueCursor, &cursor, &limit, response)) {
    return;
  }
  int64_t today = Today();
  auto issues = store_->Issues(
      cursor.time_ms, cursor.id, limit + 1, today - kListDays + 1);
  bool more = DropExtra(&issues, limit);
  SendJson(response, IssuesJson(issues, more, store_->Count(), today));
}

void Routes::GetIssue(std::string_view id, httplib::Response* response) {
  int64_t number = 0;
  int64_t today = Today();
  auto issue = ParseId(id, &number)
                   ? store_->IssueOf(number, today - kIssueDays + 1)
                   : std::nullopt;
  if (issue) {
    SendJson(response, IssueJson(*issue, today));
  } else {
    NotFound(response, "no such issue");
  }
}

void Routes::GetReports(const httplib::Request& request,
                        httplib::Response* response) {
  Cursor cursor;
  int64_t limit = 0;
  std::optional<int64_t> issue;
  if (request.has_param("issue")) {
    issue.emplace();
    if (!ParseId(request.get_param_value("issue"), &*issue)) {
      Answer(response,
             400,
             "issue is no issue's id",
             "give a number from /api/v1/issues");
      return;
    }
  }
  if (!ReadPaging(request, ParseReportCursor, &cursor, &limit, response)) {
    return;
  }
  auto reports = store_->Reports(issue, cursor.id, limit + 1);
  bool more = DropExtra(&reports, limit);
  SendJson(response, ReportsJson(reports, more));
}

void Routes::GetReport(std::string_view text, httplib::Response* response) {
  auto uuid = report::ParseUuid(std::string(text));
  auto row =
      uuid ? decoder_->Await(report::UuidText(*uuid), kAwaitMs) : std::nullopt;
  if (!row) {
    NotFound(response, "no such report");
    return;
  }
  std::string members;
  std::optional<size_t> culprit;
  if (row->state == ReportState::kDecoded) {
    std::lock_guard lock(decode_mutex_);
    auto bytes = files_->Read(*uuid);
    auto report = bytes
                      ? DecodeReport(*bytes, decoder_->options(), &row->problem)
                      : std::nullopt;
    if (report) {
      members = report::ToJsonMembers(*report);
      culprit = CulpritIndex(*report);
    } else if (!bytes) {
      row->problem = "its bytes are missing from the data directory";
    }
  }
  SendJson(response, ReportJson(*row, members, culprit));
}

void Routes::GetRaw(std::string_view text, httplib::Response* response) {
  auto uuid = report::ParseUuid(std::string(text));
  auto bytes = uuid && store_->ReportOf(report::UuidText(*uuid))
                   ? files_->Read(*uuid)
                   : std::nullopt;
  if (!bytes) {
    NotFound(response, "no such report");
    return;
  }
  response->set_header("Cache-Control", "private, max-age=86400, immutable");
  response->set_header(
      "Content-Disposition",
      "attachment; filename=\"" + report::UuidText(*uuid) + ".cairn\"");
  response->set_content(*bytes, "application/octet-stream");
}

void Routes::GetPage(std::string_view path, httplib::Response* response) {
  const Asset* asset = path == "/index.html" ? nullptr : FindAsset(path);
  if (asset != nullptr) {
    response->set_header("Cache-Control",
                         "public, max-age=31536000, immutable");
  } else {
    asset = FindAsset("/index.html");
    response->set_header("Cache-Control", "no-cache");
    response->status = IsPage(path) ? 200 : 404;
  }
  if (asset == nullptr) {
    Answer(response,
           404,
           "this server was built without the web viewer",
           "read /api/v1/issues, or build it where npm is installed");
    return;
  }
  response->set_content(
      asset->bytes.data(), asset->bytes.size(), std::string(asset->type));
}

}  // namespace cairn::server
