// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>

#include "symbolicate/shared_library.h"
#include "upload/retry_after.h"
#include "upload/transport.h"

// curl.h wraps these in macros; the table below holds the functions.
#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace cairn::upload {
namespace {

constexpr size_t kMaxBodyKept = 2048;
constexpr size_t kMaxLocation = 256;
constexpr size_t kMaxBodyRead = 1u << 20;

struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) init = nullptr;
  decltype(&::curl_easy_setopt) setopt = nullptr;
  decltype(&::curl_easy_perform) perform = nullptr;
  decltype(&::curl_easy_getinfo) getinfo = nullptr;
  decltype(&::curl_easy_cleanup) cleanup = nullptr;
  decltype(&::curl_easy_strerror) strerror = nullptr;
  decltype(&::curl_slist_append) append = nullptr;
  decltype(&::curl_slist_free_all) free_all = nullptr;
};

const Curl* LoadCurl() {
  static const Curl* const kLoaded = []() -> const Curl* {
    static Curl curl;
    const symbolicate::SharedLibrary library({"libcurl.so.4",
                                              "libcurl-gnutls.so.4",
                                              "libcurl-nss.so.4",
                                              "libcurl.4.dylib"});
    const bool whole = library.Find("curl_global_init", &curl.global_init) &&
                       library.Find("curl_easy_init", &curl.init) &&
                       library.Find("curl_easy_setopt", &curl.setopt) &&
                       library.Find("curl_easy_perform", &curl.perform) &&
                       library.Find("curl_easy_getinfo", &curl.getinfo) &&
                       library.Find("curl_easy_cleanup", &curl.cleanup) &&
                       library.Find("curl_easy_strerror", &curl.strerror) &&
                       library.Find("curl_slist_append", &curl.append) &&
                       library.Find("curl_slist_free_all", &curl.free_all);
    return whole && curl.global_init(CURL_GLOBAL_ALL) == CURLE_OK ? &curl
                                                                  : nullptr;
  }();
  return kLoaded;
}

// State of one request, for curl's callbacks.
struct Exchange {
  const std::vector<uint8_t>* body = nullptr;
  size_t sent = 0;
  size_t received = 0;
  const std::atomic<bool>* stop = nullptr;
  Answer answer;
};

size_t SendBody(char* to, size_t size, size_t count, void* context) {
  auto* exchange = static_cast<Exchange*>(context);
  const size_t left = exchange->body->size() - exchange->sent;
  const size_t bytes = std::min(size * count, left);
  if (bytes != 0) {
    std::memcpy(to, exchange->body->data() + exchange->sent, bytes);
  }
  exchange->sent += bytes;
  return bytes;
}

// curl sends the body again from its start (a reused connection that was
// closed, a second round of a proxy's authentication).
int SeekBody(void* context, curl_off_t offset, int origin) {
  auto* exchange = static_cast<Exchange*>(context);
  if (origin != SEEK_SET || offset < 0 ||
      static_cast<size_t>(offset) > exchange->body->size()) {
    return CURL_SEEKFUNC_CANTSEEK;
  }
  exchange->sent = static_cast<size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

size_t TakeBody(char* from, size_t size, size_t count, void* context) {
  auto* exchange = static_cast<Exchange*>(context);
  const size_t bytes = size * count;
  std::string& kept = exchange->answer.body;
  kept.append(from, std::min(bytes, kMaxBodyKept - kept.size()));
  exchange->received += bytes;
  return exchange->received <= kMaxBodyRead ? bytes : 0;
}

// Without blanks and control characters.
std::string Visible(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c > ' ' && c < 0x7f) {
      out += c;
    }
  }
  return out;
}

size_t TakeHeader(char* from, size_t size, size_t count, void* context) {
  auto* exchange = static_cast<Exchange*>(context);
  const std::string_view line(from, size * count);
  auto value_of = [line](std::string_view name) -> std::string_view {
    return line.size() > name.size() && line[name.size()] == ':' &&
                   strncasecmp(line.data(), name.data(), name.size()) == 0
               ? line.substr(name.size() + 1)
               : std::string_view();
  };
  if (line.starts_with("HTTP/")) {  // of an interim answer before, if any
    exchange->answer.retry_after_s = 0;
    exchange->answer.is_page = false;
  }
  if (const auto value = value_of("Retry-After"); !value.empty()) {
    exchange->answer.retry_after_s = ParseRetryAfter(value, std::time(nullptr));
  }
  if (const auto value = value_of("Content-Type"); !value.empty()) {
    exchange->answer.is_page =
        value.find("text/html") != std::string_view::npos;
  }
  if (const auto value = value_of("Location"); !value.empty()) {
    exchange->answer.location = Visible(value.substr(0, kMaxLocation));
  }
  return size * count;
}

int CheckStop(void* context,
              curl_off_t /*download_total*/,
              curl_off_t /*downloaded*/,
              curl_off_t /*upload_total*/,
              curl_off_t /*uploaded*/) {
  const auto* exchange = static_cast<const Exchange*>(context);
  return exchange->stop != nullptr && exchange->stop->load() ? 1 : 0;
}

class Call {
 public:
  Call(const Curl& curl, const Request& request, Exchange* exchange)
      : curl_(curl), handle_(curl.init()) {
    if (handle_ == nullptr) {
      return;
    }
    SetHeaders(request);
    Set(CURLOPT_URL, request.url.c_str());
    Set(CURLOPT_UPLOAD, 1L);
    Set(CURLOPT_INFILESIZE_LARGE,
        static_cast<curl_off_t>(request.body->size()));
    Set(CURLOPT_HTTPHEADER, headers_);
    Set(CURLOPT_READFUNCTION, SendBody);
    Set(CURLOPT_READDATA, exchange);
    Set(CURLOPT_SEEKFUNCTION, SeekBody);
    Set(CURLOPT_SEEKDATA, exchange);
    Set(CURLOPT_WRITEFUNCTION, TakeBody);
    Set(CURLOPT_WRITEDATA, exchange);
    Set(CURLOPT_HEADERFUNCTION, TakeHeader);
    Set(CURLOPT_HEADERDATA, exchange);
    Set(CURLOPT_XFERINFOFUNCTION, CheckStop);
    Set(CURLOPT_XFERINFODATA, exchange);
    Set(CURLOPT_NOPROGRESS, 0L);
    Set(CURLOPT_NOSIGNAL, 1L);  // a library leaves the host's signals alone
    Set(CURLOPT_FOLLOWLOCATION, 0L);
    Set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
    Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.timeout_ms));
    Set(CURLOPT_USERAGENT, "cairn");
    SetCertificates();
  }
  ~Call() {
    if (handle_ != nullptr) {
      curl_.cleanup(handle_);
    }
    curl_.free_all(headers_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void Perform(Answer* answer) {
    if (handle_ == nullptr) {
      answer->error = "out of memory";
      return;
    }
    const CURLcode code = curl_.perform(handle_);
    curl_.getinfo(handle_, CURLINFO_RESPONSE_CODE, &answer->status);
    // A server may refuse a body before it has read it and close: its answer
    // counts. An acknowledgement counts only when all went well.
    if (code != CURLE_OK && answer->status < 400) {
      answer->status = 0;
      answer->error = curl_.strerror(code);
    }
  }

 private:
  template <typename Value>
  void Set(CURLoption option, Value value) {
    curl_.setopt(handle_, option, value);
  }
  void Add(const std::string& header) {
    if (curl_slist* longer = curl_.append(headers_, header.c_str())) {
      headers_ = longer;
    }
  }
  void SetHeaders(const Request& request) {
    Add("Content-Type: application/octet-stream");
    Add("Expect:");  // do not wait for "100 Continue"
    if (request.gzip) {
      Add("Content-Encoding: gzip");
    }
    if (!request.token.empty()) {
      Add("Authorization: Bearer " + request.token);
    }
  }
  // As OpenSSL's own programs read them; libcurl built with a fixed bundle does
  // not look.
  void SetCertificates() {
    if (const char* file = std::getenv("SSL_CERT_FILE")) {
      Set(CURLOPT_CAINFO, file);
    }
    if (const char* directory = std::getenv("SSL_CERT_DIR")) {
      Set(CURLOPT_CAPATH, directory);
    }
  }

  const Curl& curl_;
  CURL* handle_;
  curl_slist* headers_ = nullptr;
};

}  // namespace

Answer Put(const Request& request, const std::atomic<bool>* stop) {
  Exchange exchange;
  exchange.body = request.body;
  exchange.stop = stop;
  const Curl* curl = LoadCurl();
  if (curl == nullptr) {
    exchange.answer.possible = false;
    exchange.answer.error =
        "libcurl cannot be loaded; install libcurl4, or run `cairn upload` "
        "where it is";
    return exchange.answer;
  }
  Call(*curl, request, &exchange).Perform(&exchange.answer);
  return exchange.answer;
}

}  // namespace cairn::upload
