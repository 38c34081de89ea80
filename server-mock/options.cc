// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <arpa/inet.h>

#include <CLI/CLI.hpp>
#include <charconv>

namespace cairn::server {
namespace {

constexpr int kWrongUsage = 2;

void Declare(CLI::App* app, Options* options, std::string* listen) {
  app->set_version_flag("--version", CAIRN_SERVER_VERSION);
  app->add_option("--listen", *listen, "HOST:PORT; port 0 picks a free one")
      ->required();
  app->add_option("--data",
                  options->data,
                  "folder for reports and database, made if missing")
      ->required();
  app->add_option("--token", options->token, "what a client must show to put")
      ->envname("CAIRN_SERVER_TOKEN");
  app->add_option("--read-token",
                  options->read_token,
                  "what a reader must show: password in a browser, or bearer")
      ->envname("CAIRN_SERVER_READ_TOKEN");
  app->add_flag("--open",
                options->open,
                "go without tokens on an address that others can reach");
  app->add_option("--allow-host",
                  options->allowed_hosts,
                  "a name that requests may call the server by, besides "
                  "localhost; repeatable");
  app->add_option(
         "--max-body-bytes", options->max_body_bytes, "largest body as sent")
      ->capture_default_str();
  app->add_option("--max-report-bytes",
                  options->max_report_bytes,
                  "largest report, inflated")
      ->capture_default_str();
  app->add_option("--reports-per-minute",
                  options->reports_per_minute,
                  "puts that one address may do; 0: no limit")
      ->capture_default_str();
  app->add_option("--debug-directory",
                  options->debug_directories,
                  "where debug files are looked for, by build-id; repeatable");
}

// "" or what is wrong with it.
std::string Wrong(const std::string& listen, Options* options) {
  if (!ParseListen(listen, options)) {
    return "--listen " + listen +
           ": give HOST:PORT, such as 127.0.0.1:8080 or [::1]:0";
  }
  bool guarded = !options->token.empty() && !options->read_token.empty();
  if (!IsLoopback(options->host) && !guarded && !options->open) {
    return "others can reach " + options->host +
           ": give --token and --read-token, or --open if that is meant "
           "(reports hold memory of programs)";
  }
  return "";
}

}  // namespace

bool ParseListen(const std::string& text, Options* options) {
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return false;
  }
  std::string host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    return false;
  }
  int port = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc() || stop != end || port < 0 || port > 65535 ||
      host.empty()) {
    return false;
  }
  options->host = host;
  options->port = port;
  return true;
}

bool IsLoopback(const std::string& host) {
  in_addr address;
  return host == "localhost" || host == "::1" ||
         (inet_pton(AF_INET, host.c_str(), &address) == 1 &&
          ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

bool ChecksHosts(const Options& options, const std::string& token) {
  return !options.allowed_hosts.empty() ||
         (token.empty() && IsLoopback(options.host));
}

int ParseOptions(int argc, char** argv, Options* options) {
  CLI::App app("Collects crash reports and shows them.", "cairn-server");
  std::string listen;
  Declare(&app, options, &listen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
  std::string wrong = Wrong(listen, options);
  if (wrong.empty()) {
    return -1;
  }
  std::fprintf(stderr, "cairn-server: %s\n", wrong.c_str());
  return kWrongUsage;
}

}  // namespace cairn::server
