// SPDX-License-Identifier: Apache-2.0
#include "upload/testing/test_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cairn::upload {

TestServer::TestServer(Script script) : script_(std::move(script)) {
  server_.set_keep_alive_max_count(1);
  server_.Put(
      R"(/api/v1/reports/([-0-9a-f]+))",
      [this](const httplib::Request& request, httplib::Response& response) {
        Handle(request, &response);
      });
  port_ = server_.bind_to_any_port("127.0.0.1");
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  while (!server_.is_running()) {
    std::this_thread::yield();
  }
}

TestServer::~TestServer() {
  server_.stop();
  thread_.join();
}

std::string TestServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

int TestServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::map<std::string, std::vector<uint8_t>> TestServer::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

std::vector<httplib::Headers> TestServer::headers() const {
  const std::lock_guard lock(mutex_);
  return headers_;
}

void TestServer::Handle(const httplib::Request& request,
                        httplib::Response* response) {
  int number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = requests_++;
    headers_.push_back(request.headers);
  }
  if (script_ && script_(number, request, response)) {
    return;
  }
  const std::lock_guard lock(mutex_);
  const std::vector<uint8_t> bytes(request.body.begin(), request.body.end());
  const auto [place, is_new] = kept_.emplace(request.matches[1], bytes);
  response->status = is_new ? 201 : place->second == bytes ? 200 : 409;
}

RawServer::RawServer(std::function<void(int socket)> talk)
    : talk_(std::move(talk)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, any, bytes) != 0 || listen(listener_, 8) != 0 ||
      getsockname(listener_, any, &bytes) != 0) {
    return;
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] {
    while (!stop_) {
      pollfd ready{listener_, POLLIN, 0};
      if (poll(&ready, 1, 20) <= 0) {
        continue;
      }
      const int socket = accept(listener_, nullptr, nullptr);
      ++connections_;
      talk_(socket);
      close(socket);
    }
  });
}

RawServer::~RawServer() {
  stop_ = true;
  thread_.join();
  close(listener_);
}

std::string RawServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

}  // namespace cairn::upload
