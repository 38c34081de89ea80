// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cairn::e2e {
namespace {

pid_t Start(std::vector<std::string> words, int* output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    abort();
  }
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 1);
    std::vector<char*> argv;
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(ends[1]);
  *output = ends[0];
  return pid;
}

}  // namespace

Finished RunProgram(const std::vector<std::string>& words) {
  Finished finished;
  int output = -1;
  const pid_t pid = Start(words, &output);
  char buffer[4096];
  for (ssize_t got = 0; (got = read(output, buffer, sizeof(buffer))) > 0;) {
    finished.output.append(buffer, static_cast<size_t>(got));
  }
  close(output);
  waitpid(pid, &finished.status, 0);
  return finished;
}

Server::Server(const std::string& program,
               const std::string& data,
               const std::string& token) {
  int output = -1;
  pid_ = Start(
      {program, "--listen", "127.0.0.1:0", "--data", data, "--token", token},
      &output);
  std::string line;
  for (char c = 0;
       line.find('\n') == std::string::npos && read(output, &c, 1) == 1;) {
    line += c;
  }
  const size_t colon = line.rfind(':');
  port_ = colon == std::string::npos ? 0 : atoi(line.c_str() + colon + 1);
}

Server::~Server() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

}  // namespace cairn::e2e
