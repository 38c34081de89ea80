// SPDX-License-Identifier: Apache-2.0
//
// `cairn upload`: sends the finished reports of a directory.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "command.h"
#include "report_directory.h"
#include "upload/next_launch.h"

namespace cairn::tools {
namespace {

struct UploadArguments {
  upload::NextLaunchOptions options;
  bool json = false;
};

const char* OutcomeName(upload::Outcome outcome) {
  switch (outcome) {
    case upload::Outcome::kSent:
      return "sent";
    case upload::Outcome::kRefused:
      return "refused";
    case upload::Outcome::kUnauthorized:
      return "unauthorized";
    case upload::Outcome::kRetryLater:
      return "retry_later";
  }
  return "retry_later";
}

void PrintText(const upload::Result& result) {
  std::printf("%s: %s\n", result.path.c_str(), result.message.c_str());
  std::fflush(stdout);
}

void PrintJson(const upload::Result& result) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  auto put = [&](const char* key, const std::string& text) {
    writer.Key(key);
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  };
  writer.StartObject();
  put("path", result.path);
  put("outcome", OutcomeName(result.outcome));
  writer.Key("http_status");
  writer.Int64(result.http_status);
  put("message", result.message);
  writer.EndObject();
  std::printf("%s\n", buffer.GetString());
  std::fflush(stdout);
}

void Upload(const UploadArguments& arguments, int* status) {
  if (!IsDirectory(arguments.options.upload.directory)) {
    Complain(arguments.options.upload.directory + ": not a directory");
    *status = kUnusable;
    return;
  }
  if (arguments.options.upload.url.empty()) {
    Complain("no server; give --url or set CAIRN_UPLOAD_URL");
    *status = kUnusable;
    return;
  }
  const auto result = upload::ProcessFinishedReports(
      arguments.options, nullptr, arguments.json ? PrintJson : PrintText);
  for (const std::string& problem : result.problems) {
    Complain(problem);
    *status = kCut;
  }
  for (const upload::Result& each : result.sent) {
    if (each.outcome != upload::Outcome::kSent) {
      *status = kCut;
    }
  }
}

}  // namespace

void AddUpload(CLI::App* app, int* exit_status) {
  CLI::App* command = app->add_subcommand(
      "upload", "Name and send the finished reports of a directory");
  auto arguments = std::make_shared<UploadArguments>();
  upload::Options& options = arguments->options.upload;
  command->add_option("DIR", options.directory, "Where the reports are")
      ->required();
  command->add_option("--url", options.url, "The server's address")
      ->envname("CAIRN_UPLOAD_URL");
  command->add_option("--token", options.token, "The server's token")
      ->envname("CAIRN_UPLOAD_TOKEN");
  command->add_flag(
      "--json", arguments->json, "One JSON object a line for each report");
  command->callback(
      [arguments, exit_status] { Upload(*arguments, exit_status); });
}

}  // namespace cairn::tools
