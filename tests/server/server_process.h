// SPDX-License-Identifier: Apache-2.0
//
// A real cairn-server on a free loopback port, for tests.
#ifndef CAIRN_TESTS_SERVER_SERVER_PROCESS_H_
#define CAIRN_TESTS_SERVER_SERVER_PROCESS_H_

#include <httplib.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::server {

// An own temporary folder, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class ServerProcess {
 public:
  // Starts the server on `data` and waits until it says that it listens.
  explicit ServerProcess(const std::string& data,
                         std::vector<std::string> arguments = {});
  // Ends it, if it still runs, by SIGTERM; it must exit with 0.
  ~ServerProcess();

  int port() const { return port_; }
  pid_t pid() const { return pid_; }
  // Sends the signal and waits for the end; returns the wait status.
  int End(int signal_number);
  // Peak of its resident memory, bytes.
  uint64_t PeakMemoryBytes() const;

  // One request each, over a connection of its own. Status 0: no answer.
  httplib::Response Get(const std::string& path,
                        httplib::Headers headers = {}) const;
  httplib::Response Put(const std::string& path,
                        const std::string& body,
                        httplib::Headers headers = {}) const;
  // Sends `bytes` as they are and returns all that comes back.
  std::string Raw(const std::string& bytes, bool close_after = false) const;

 private:
  pid_t pid_ = -1;
  int port_ = 0;
};

// A report that is like the checked-in sample `name`, with another uuid, taken
// from `number`.
std::string SampleReport(const std::string& name, uint32_t number);
// Makes the header's checksum right again after a change of the header.
void SealHeader(std::string* report);
std::string UuidOf(const std::string& report);
std::string PathOf(const std::string& report);  // /api/v1/reports/UUID
std::string Gzip(const std::string& plain);

}  // namespace cairn::server

#endif  // CAIRN_TESTS_SERVER_SERVER_PROCESS_H_
