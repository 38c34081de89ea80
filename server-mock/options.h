// SPDX-License-Identifier: Apache-2.0
//
// What the command line says.
#ifndef CAIRN_SERVER_OPTIONS_H_
#define CAIRN_SERVER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::server {

struct Options {
  std::string host;
  int port = 0;  // 0: any free one
  std::string data;
  std::string token;       // "": who may connect may put
  std::string read_token;  // "": who may connect may read
  bool open = false;       // allow both of these on an address not loopback
  // Names besides those of loopback by which requests may call the server.
  std::vector<std::string> allowed_hosts;
  uint64_t max_body_bytes = 16u << 20;
  uint64_t max_report_bytes = 64u << 20;
  uint32_t reports_per_minute = 600;  // of one address; 0: no limit
  std::vector<std::string> debug_directories;
};

// "127.0.0.1:8080", "localhost:0", "[::1]:8080". False: not of that shape.
bool ParseListen(const std::string& text, Options* options);
bool IsLoopback(const std::string& host);
// Whether names are looked at at all: where loopback alone guards the server,
// and where names were given. A token guards by itself.
bool ChecksHosts(const Options& options, const std::string& token);
// Fills `options` from the command line and the environment. Returns -1 to go
// on, else the exit code (help, version, wrong usage), with its text printed.
int ParseOptions(int argc, char** argv, Options* options);

}  // namespace cairn::server

#endif  // CAIRN_SERVER_OPTIONS_H_
