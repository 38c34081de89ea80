// SPDX-License-Identifier: Apache-2.0
//
// HTTP: connections, limits, who may do what, headers of safety. What the
// addresses mean is in routes.h.
#ifndef CAIRN_SERVER_HTTP_H_
#define CAIRN_SERVER_HTTP_H_

#include <httplib.h>

#include <atomic>
#include <string>
#include <string_view>

#include "options.h"
#include "routes.h"

namespace cairn::server {

class HttpServer {
 public:
  HttpServer(const Options& options, Routes* routes);

  // Binds; returns the port, or -1 when the address cannot be had.
  int Bind();
  // Serves until Stop; false when the listener broke.
  bool Run();
  // Returns once Run takes connections, or has ended. Stop does nothing before.
  void AwaitStart() const;
  // Any thread. Requests under way are finished.
  void Stop();

 private:
  const Options& options_;
  Routes* const routes_;
  httplib::Server server_;
  int listener_ = -1;  // the server's
  std::atomic<bool> ended_ = false;
};

}  // namespace cairn::server

#endif  // CAIRN_SERVER_HTTP_H_
