// SPDX-License-Identifier: Apache-2.0
#include "http.h"

#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "api.h"
#include "database.h"

namespace cairn::server {
namespace {

// A slow sender holds one of these for at most kReadSeconds a piece.
constexpr size_t kThreads = 16;
constexpr time_t kReadSeconds = 5;
constexpr time_t kWriteSeconds = 20;
// One request a connection: what a refused request leaves unread must never be
// taken for the next one, and no idle connection keeps a thread.
constexpr size_t kRequestsPerConnection = 1;

httplib::Headers SafetyHeaders() {
  return {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; "
       "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
       "form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
  };
}

// httplib decompresses a body that says how it is packed, without a limit and
// without a look at the stream's end. Under another name it hands the bytes on
// as they came. It allows a handler to see requests as const only; the object
// itself is none.
void HideEncoding(const httplib::Request& request) {
  auto& headers = const_cast<httplib::Request&>(request).headers;
  std::string encoding = request.get_header_value("Content-Encoding");
  headers.erase(kSentEncoding);
  if (!encoding.empty()) {
    headers.erase("Content-Encoding");
    headers.emplace(kSentEncoding, encoding);
  }
}

void AnswerException(const httplib::Request&,
                     httplib::Response& response,
                     std::exception_ptr exception) {
  std::string what;
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "unknown";
  }
  std::fprintf(stderr, "cairn-server: %s\n", what.c_str());
  Answer(&response,
         503,
         "the server has a fault of its own: " + what,
         "try again later; the server's log says more");
}

void FillError(const httplib::Request&, httplib::Response& response) {
  if (response.body.empty()) {
    Answer(&response,
           response.status,
           "the request could not be served",
           "check method, address and headers against docs/server.md");
  }
}

}  // namespace

HttpServer::HttpServer(const Options& options, Routes* routes)
    : options_(options), routes_(routes) {
  server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  // httplib would share the port with another server (SO_REUSEPORT).
  server_.set_socket_options([this](int socket) {
    int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    listener_ = socket;
  });
  server_.set_keep_alive_max_count(kRequestsPerConnection);
  server_.set_read_timeout(kReadSeconds);
  server_.set_write_timeout(kWriteSeconds);
  server_.set_default_headers(SafetyHeaders());
  server_.set_exception_handler(AnswerException);
  server_.set_error_handler(FillError);
  server_.set_pre_routing_handler([](const auto& request, auto& response) {
    HideEncoding(request);
    return Routes::Refuse(request, &response)
               ? httplib::Server::HandlerResponse::Handled
               : httplib::Server::HandlerResponse::Unhandled;
  });
  server_.Get(R"([\s\S]*)", [this](const auto& request, auto& response) {
    routes_->Get(request, &response);
  });
  server_.Put(R"([\s\S]*)",
              [this](const httplib::Request& request,
                     httplib::Response& response,
                     const httplib::ContentReader& reader) {
                routes_->Put(request, &response, reader);
              });
}

int HttpServer::Bind() {
  int port = options_.port;
  if (port == 0) {
    port = server_.bind_to_any_port(options_.host);
  } else if (!server_.bind_to_port(options_.host, port)) {
    port = -1;
  }
  // httplib's queue of five loses connections when many come at once.
  if (port > 0) {
    listen(listener_, SOMAXCONN);
  }
  return port;
}

bool HttpServer::Run() {
  bool served = server_.listen_after_bind();
  ended_ = true;
  return served;
}

void HttpServer::AwaitStart() const {
  while (!server_.is_running() && !ended_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void HttpServer::Stop() {
  server_.stop();
}

}  // namespace cairn::server
