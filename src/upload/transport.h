// SPDX-License-Identifier: Apache-2.0
//
// One PUT over HTTP or HTTPS, with the system's libcurl, loaded at first use.
//
// Ordinary code, any thread. Certificates are always checked; redirects are
// never followed; the proxy variables of the environment are honoured, and
// SSL_CERT_FILE and SSL_CERT_DIR where the certificates are elsewhere.
#ifndef CAIRN_UPLOAD_TRANSPORT_H_
#define CAIRN_UPLOAD_TRANSPORT_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace cairn::upload {

struct Request {
  std::string url;
  std::string token;  // "": no Authorization header
  bool gzip = false;  // the body is gzip
  const std::vector<uint8_t>* body = nullptr;
  int timeout_ms = 20000;
};

struct Answer {
  long status = 0;            // 0: no answer
  bool possible = true;       // false: no request can be made here at all
  bool is_page = false;       // HTML: not a Cairn server's
  int64_t retry_after_s = 0;  // as the server asked, capped
  std::string body;           // its beginning
  std::string error;          // the transport's, when there is no answer
  std::string location;       // where a redirect points
};

// Returns within the timeout, earlier when `stop` becomes true.
Answer Put(const Request& request, const std::atomic<bool>* stop);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_TRANSPORT_H_
