// SPDX-License-Identifier: Apache-2.0
//
// A report server on 127.0.0.1 that answers as the test says, keeps what it
// acknowledges, and is idempotent by uuid as the real one is.
#ifndef CAIRN_UPLOAD_TESTING_TEST_SERVER_H_
#define CAIRN_UPLOAD_TESTING_TEST_SERVER_H_

#include <httplib.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cairn::upload {

class TestServer {
 public:
  // Answers a request instead of keeping it; false: keep it as usual. `number`
  // counts from 0. Runs in a thread of the server.
  using Script = std::function<
      bool(int number, const httplib::Request&, httplib::Response*)>;

  explicit TestServer(Script script = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::string url() const;
  int port() const { return port_; }
  int requests() const;
  // Uuid and unzipped bytes.
  std::map<std::string, std::vector<uint8_t>> kept() const;
  std::vector<httplib::Headers> headers() const;

 private:
  void Handle(const httplib::Request& request, httplib::Response* response);

  Script script_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  mutable std::mutex mutex_;
  int requests_ = 0;
  std::map<std::string, std::vector<uint8_t>> kept_;
  std::vector<httplib::Headers> headers_;
};

// Accepts connections on 127.0.0.1 and gives each to `talk`, then closes it.
class RawServer {
 public:
  explicit RawServer(std::function<void(int socket)> talk);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  std::string url() const;
  int connections() const { return connections_; }

 private:
  std::function<void(int)> talk_;
  int listener_;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_TESTING_TEST_SERVER_H_
