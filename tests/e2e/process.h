// SPDX-License-Identifier: Apache-2.0
//
// Programs run by the end-to-end test.
#ifndef CAIRN_TESTS_E2E_PROCESS_H_
#define CAIRN_TESTS_E2E_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace cairn::e2e {

struct Finished {
  int status = 0;      // of waitpid
  std::string output;  // standard output
};
Finished RunProgram(const std::vector<std::string>& words);

// cairn-server on a free port, ended by the destructor.
class Server {
 public:
  Server(const std::string& program,
         const std::string& data,
         const std::string& token);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  int port() const { return port_; }

 private:
  pid_t pid_ = 0;
  int port_ = 0;
};

}  // namespace cairn::e2e

#endif  // CAIRN_TESTS_E2E_PROCESS_H_
