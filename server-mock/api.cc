// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <charconv>

#include "clock.h"
#include "report/utf8.h"

namespace cairn::server {
namespace {

class Json {
 public:
  void Begin() { writer_.StartObject(); }
  void Begin(const char* name) {
    writer_.Key(name);
    writer_.StartObject();
  }
  void End() { writer_.EndObject(); }
  void BeginList(const char* name) {
    writer_.Key(name);
    writer_.StartArray();
  }
  void EndList() { writer_.EndArray(); }
  void Add(const char* name, int64_t value) {
    writer_.Key(name);
    writer_.Int64(value);
  }
  void AddFlag(const char* name, bool value) {
    writer_.Key(name);
    writer_.Bool(value);
  }
  void Add(const char* name, std::string_view value) {
    writer_.Key(name);
    std::string text = report::MendUtf8(value);
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  // Absent where unknown.
  void AddKnown(const char* name, std::string_view value) {
    if (!value.empty()) {
      Add(name, value);
    }
  }
  void AddNull(const char* name) {
    writer_.Key(name);
    writer_.Null();
  }
  std::string Take() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

// Every day from the first to today, those without reports too.
void AddTrend(const Issue& issue, int64_t today, int64_t days, Json* json) {
  json->BeginList("trend");
  auto known = issue.days.begin();
  for (int64_t day = today - days + 1; day <= today; ++day) {
    while (known != issue.days.end() && known->first < day) {
      ++known;
    }
    bool has = known != issue.days.end() && known->first == day;
    json->Begin();
    json->Add("day", DayText(day));
    json->Add("count", has ? known->second : 0);
    json->End();
  }
  json->EndList();
}

void AddIssue(const Issue& issue, int64_t today, int64_t days, Json* json) {
  json->Begin();
  json->Add("id", issue.id);
  json->Add("title", issue.title);
  json->Add("signature", issue.signature);
  json->Add("signature_version", issue.signature_version);
  json->AddKnown("app_id", issue.app_id);
  json->Add("count", issue.count);
  json->Add("first_seen", TimeText(issue.first_seen_ms));
  json->Add("last_seen", TimeText(issue.last_seen_ms));
  json->Add("latest_report", issue.latest_report);
  json->BeginList("versions");
  for (const auto& [version, count] : issue.versions) {
    json->Begin();
    json->Add("version", version);
    json->Add("count", count);
    json->End();
  }
  json->EndList();
  AddTrend(issue, today, days, json);
  json->End();
}

void AddApp(const Decoded& decoded, Json* json) {
  json->Begin("app");
  json->AddKnown("id", decoded.app_id);
  json->AddKnown("version", decoded.app_version);
  json->AddKnown("build", decoded.app_build);
  json->AddKnown("environment", decoded.environment);
  json->End();
}

// What is known about the report besides its own content.
void AddServerFacts(const ReportRow& report, Json* json) {
  json->Add("received", TimeText(report.received_ms));
  json->Add("bytes", report.bytes);
  json->Add("state", Name(report.state));
  json->AddKnown("problem", report.problem);
  if (report.issue) {
    json->Add("issue", *report.issue);
    json->Add("title", report.decoded.title);
    json->Add("signature", report.decoded.signature);
    json->Add("signature_version", report.decoded.signature_version);
  }
}

void AddReport(const ReportRow& report, Json* json) {
  json->Begin();
  json->Add("uuid", report.uuid);
  AddServerFacts(report, json);
  const Decoded& decoded = report.decoded;
  if (report.state == ReportState::kDecoded) {
    if (decoded.time_ms) {
      json->Add("time", TimeText(*decoded.time_ms));
    }
    json->Add("kind", decoded.kind);
    json->AddFlag("complete", decoded.complete);
    json->AddKnown("process", decoded.process);
    json->AddKnown("os", decoded.os);
    AddApp(decoded, json);
  }
  json->End();
}

void AddNext(const std::string& cursor, bool more, Json* json) {
  if (more) {
    json->Add("next", cursor);
  } else {
    json->AddNull("next");
  }
}

bool ParseNumber(std::string_view text, int64_t* number) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end && *number >= 0;
}

}  // namespace

std::string IssuesJson(const std::vector<Issue>& issues,
                       bool more,
                       const Totals& totals,
                       int64_t today) {
  Json json;
  json.Begin();
  json.BeginList("issues");
  std::string cursor;
  for (const Issue& issue : issues) {
    AddIssue(issue, today, kListDays, &json);
    cursor =
        std::to_string(issue.last_seen_ms) + "-" + std::to_string(issue.id);
  }
  json.EndList();
  AddNext(cursor, more, &json);
  json.Begin("totals");
  json.Add("issues", totals.issues);
  json.Add("reports", totals.reports);
  json.Add("waiting", totals.waiting);
  json.Add("undecodable", totals.undecodable);
  json.End();
  json.End();
  return json.Take();
}

std::string IssueJson(const Issue& issue, int64_t today) {
  Json json;
  AddIssue(issue, today, kIssueDays, &json);
  return json.Take();
}

std::string ReportsJson(const std::vector<ReportRow>& reports, bool more) {
  Json json;
  json.Begin();
  json.BeginList("reports");
  for (const ReportRow& report : reports) {
    AddReport(report, &json);
  }
  json.EndList();
  AddNext(
      reports.empty() ? "" : std::to_string(reports.back().id), more, &json);
  json.End();
  return json.Take();
}

std::string ReportJson(const ReportRow& report,
                       const std::string& members,
                       std::optional<size_t> culprit) {
  Json json;
  json.Begin();
  json.Add("uuid", report.uuid);
  AddServerFacts(report, &json);
  if (culprit) {
    json.Add("culprit", static_cast<int64_t>(*culprit));
  }
  json.End();
  std::string server = json.Take();
  return "{" + members + (members.empty() ? "" : ",") + "\"server\":" + server +
         "}";
}

std::string ErrorJson(std::string_view error, std::string_view remedy) {
  Json json;
  json.Begin();
  json.Add("error", error);
  json.Add("remedy", remedy);
  json.End();
  return json.Take();
}

bool ParseIssueCursor(const std::string& text, Cursor* cursor) {
  if (text.empty()) {
    return true;
  }
  size_t dash = text.find('-');
  return dash != std::string::npos &&
         ParseNumber(std::string_view(text).substr(0, dash),
                     &cursor->time_ms) &&
         ParseNumber(std::string_view(text).substr(dash + 1), &cursor->id);
}

bool ParseReportCursor(const std::string& text, Cursor* cursor) {
  return text.empty() || ParseNumber(text, &cursor->id);
}

}  // namespace cairn::server
