// SPDX-License-Identifier: Apache-2.0
//
// cairn-server: takes crash reports, keeps them, groups them, shows them.
//
// Protocol (docs/server.md has every field):
//
//   PUT /api/v1/reports/UUID          a report's bytes, from a client
//     Authorization: Bearer TOKEN     if the server was given one
//     Content-Encoding: gzip          or identity
//     201 kept now      200 kept before, the same bytes
//     400 no report, damaged, or of another uuid      401 token
//     421 called by a name that is not this server's
//     409 uuid taken by other bytes   413 over a size limit   415 encoding
//     429 too many; Retry-After       503, 507 fault of this side; later
//     An answer of 200 or 201 means: bytes, name and row are on disk.
//   GET /api/v1/issues?limit=&before=          issues, last seen first
//   GET /api/v1/issues/ID
//   GET /api/v1/reports?issue=&limit=&before=  reports, newest first
//   GET /api/v1/reports/UUID          the report as JSON, with "server": {}
//   GET /api/v1/reports/UUID/raw      its bytes
//   GET /healthz                      {"ok": true}
//   GET / /reports /issues/ID /reports/UUID    the web viewer
//
// Every error is {"error": …, "remedy": …}. Each connection serves one request.
//
// Flow: routes → Ingest (gzip, files, store) → answer; Decoder, in a thread of
// its own: files → ReadReport → Signature → store. Signals are waited for by
// the main thread, which then stops the listener; running requests end first.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include "decoder.h"
#include "files.h"
#include "http.h"
#include "ingest.h"
#include "options.h"
#include "routes.h"
#include "store.h"

namespace cairn::server {
namespace {

// Blocks the signals that end the server, in this and all later threads.
sigset_t BlockEndSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return set;
}

void Announce(const Options& options, int port) {
  bool is_v6 = options.host.find(':') != std::string::npos;
  std::printf("listening: http://%s%s%s:%d\n",
              is_v6 ? "[" : "",
              options.host.c_str(),
              is_v6 ? "]" : "",
              port);
  std::fflush(stdout);
}

int Serve(const Options& options) {
  sigset_t end_signals = BlockEndSignals();
  ReportFiles files(options.data);
  Store store(options.data + "/cairn.sqlite");
  Decoder decoder(&files, &store, {options.debug_directories});
  Ingest ingest(
      &files, &store, options.max_report_bytes, [&decoder] { decoder.Wake(); });
  if (size_t healed = ingest.Heal(); healed != 0) {
    std::fprintf(
        stderr, "cairn-server: %zu reports had no row; mended\n", healed);
    decoder.Wake();
  }
  Routes routes(options, &files, &store, &ingest, &decoder);
  HttpServer server(options, &routes);
  int port = server.Bind();
  if (port < 0) {
    std::fprintf(stderr,
                 "cairn-server: cannot listen on %s:%d; choose a free port and "
                 "an address of this machine\n",
                 options.host.c_str(),
                 options.port);
    return 1;
  }
  bool served = true;
  std::thread listener([&] {
    served = server.Run();
    kill(getpid(), SIGTERM);  // ends the wait below
  });
  server.AwaitStart();
  Announce(options, port);
  int signal_number = 0;
  sigwait(&end_signals, &signal_number);
  server.Stop();
  listener.join();
  return served ? 0 : 1;
}

}  // namespace
}  // namespace cairn::server

int main(int argc, char** argv) {
  cairn::server::Options options;
  int code = cairn::server::ParseOptions(argc, argv, &options);
  if (code >= 0) {
    return code;
  }
  try {
    return cairn::server::Serve(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cairn-server: %s\n", error.what());
    return 1;
  }
}
