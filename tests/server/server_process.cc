// SPDX-License-Identifier: Apache-2.0
#include "server_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "format/report_format.h"
#include "report/report.h"
#include "safe/crc32c.h"

extern char** environ;

namespace cairn::server {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The port in "listening: http://127.0.0.1:PORT"; 0 when the pipe ends first.
int ReadPort(int fd) {
  std::string line;
  char c = 0;
  while (read(fd, &c, 1) == 1 && c != '\n') {
    line += c;
  }
  size_t colon = line.rfind(':');
  return line.starts_with("listening: http://") ? std::atoi(&line[colon + 1])
                                                : 0;
}

pid_t Start(std::vector<std::string> arguments, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  pid_t pid = -1;
  int error = posix_spawn(
      &pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

httplib::Response Answer(httplib::Result result) {
  httplib::Response none;
  none.status = 0;
  return result ? *result : none;
}

httplib::Client Client(int port) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(60);
  return client;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string text = testing::TempDir() + "cairn-server-XXXXXX";
  path_ = mkdtemp(text.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::filesystem::remove_all(path_);
}

ServerProcess::ServerProcess(const std::string& data,
                             std::vector<std::string> arguments) {
  std::vector<std::string> all = {CAIRN_BINARY_DIR "/bin/cairn-server",
                                  "--listen",
                                  "127.0.0.1:0",
                                  "--data",
                                  data};
  all.insert(all.end(), arguments.begin(), arguments.end());
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  pid_ = Start(all, pipe_ends[1]);
  close(pipe_ends[1]);
  port_ = ReadPort(pipe_ends[0]);
  close(pipe_ends[0]);
  if (port_ == 0) {
    throw std::runtime_error("the server did not start");
  }
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    int status = End(SIGTERM);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

int ServerProcess::End(int signal_number) {
  int status = 0;
  kill(pid_, signal_number);
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

uint64_t ServerProcess::PeakMemoryBytes() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  std::string word;
  uint64_t kilobytes = 0;
  while (file >> word) {
    if (word == "VmHWM:") {
      file >> kilobytes;
    }
  }
  return kilobytes * 1024;
}

httplib::Response ServerProcess::Get(const std::string& path,
                                     httplib::Headers headers) const {
  return Answer(Client(port_).Get(path, headers));
}

httplib::Response ServerProcess::Put(const std::string& path,
                                     const std::string& body,
                                     httplib::Headers headers) const {
  return Answer(
      Client(port_).Put(path, headers, body, "application/octet-stream"));
}

std::string ServerProcess::Raw(const std::string& bytes,
                               bool close_after) const {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
      0) {
    send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (close_after) {
      shutdown(fd, SHUT_WR);
    }
    char buffer[4096];
    ssize_t got = 0;
    while ((got = recv(fd, buffer, sizeof(buffer), 0)) > 0) {
      answer.append(buffer, static_cast<size_t>(got));
    }
  }
  close(fd);
  return answer;
}

std::string SampleReport(const std::string& name, uint32_t number) {
  std::string bytes =
      ReadFile(CAIRN_SOURCE_DIR "/tests/samples/" + name + ".cairn");
  std::memcpy(bytes.data() + offsetof(format::FileHeader, report_uuid),
              &number,
              sizeof(number));
  SealHeader(&bytes);
  return bytes;
}

void SealHeader(std::string* report) {
  format::FileHeader header;
  std::memcpy(&header, report->data(), sizeof(header));
  uint32_t first =
      safe::Crc32c(0, &header, offsetof(format::FileHeader, header_crc));
  header.header_crc =
      safe::Crc32c(first, header.report_uuid, sizeof(header.report_uuid));
  std::memcpy(report->data(), &header, sizeof(header));
}

std::string UuidOf(const std::string& report) {
  report::Uuid uuid;
  std::memcpy(uuid.data(),
              report.data() + offsetof(format::FileHeader, report_uuid),
              uuid.size());
  return report::UuidText(uuid);
}

std::string PathOf(const std::string& report) {
  return "/api/v1/reports/" + UuidOf(report);
}

std::string Gzip(const std::string& plain) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, plain.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace cairn::server
