// SPDX-License-Identifier: Apache-2.0
//
// What an address means: the API and the viewer's pages.
#ifndef CAIRN_SERVER_ROUTES_H_
#define CAIRN_SERVER_ROUTES_H_

#include <httplib.h>

#include <mutex>
#include <string>
#include <string_view>

#include "decoder.h"
#include "files.h"
#include "ingest.h"
#include "options.h"
#include "rate_limit.h"
#include "store.h"

namespace cairn::server {

// Under this name the routes find a request's Content-Encoding (see http.cc).
inline constexpr char kSentEncoding[] = "X-Cairn-Sent-Encoding";

// Answers with {"error", "remedy"}.
void Answer(httplib::Response* response,
            int status,
            std::string_view error,
            std::string_view remedy);

// Any thread, after construction.
class Routes {
 public:
  Routes(const Options& options,
         ReportFiles* files,
         Store* store,
         Ingest* ingest,
         Decoder* decoder);

  // Answers requests whose method no address has. True: answered.
  static bool Refuse(const httplib::Request& request,
                     httplib::Response* response);
  void Get(const httplib::Request& request, httplib::Response* response);
  void Put(const httplib::Request& request,
           httplib::Response* response,
           const httplib::ContentReader& reader);

 private:
  // False: answered with why not. `token` is what guards the address asked for.
  bool MayBeCalled(const httplib::Request& request,
                   const std::string& token,
                   httplib::Response* response);
  bool MayRead(const httplib::Request& request, httplib::Response* response);
  bool MayPut(const httplib::Request& request, httplib::Response* response);

  void GetApi(std::string_view path,
              const httplib::Request& request,
              httplib::Response* response);
  void GetIssues(const httplib::Request& request, httplib::Response* response);
  void GetIssue(std::string_view id, httplib::Response* response);
  void GetReports(const httplib::Request& request, httplib::Response* response);
  void GetReport(std::string_view uuid, httplib::Response* response);
  void GetRaw(std::string_view uuid, httplib::Response* response);
  void GetPage(std::string_view path, httplib::Response* response);

  const Options& options_;
  ReportFiles* const files_;
  Store* const store_;
  Ingest* const ingest_;
  Decoder* const decoder_;
  RateLimit rate_limit_;
  // Reports are decoded for readers one at a time: a large one takes memory.
  std::mutex decode_mutex_;
};

}  // namespace cairn::server

#endif  // CAIRN_SERVER_ROUTES_H_
