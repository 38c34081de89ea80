// SPDX-License-Identifier: Apache-2.0
#include "auth.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <strings.h>

#include <vector>

namespace cairn::server {
namespace {

constexpr size_t kMaxHeaderBytes = 4096;

// What follows "SCHEME " in `header`; "" if it is another scheme.
std::string_view Credentials(std::string_view header, std::string_view scheme) {
  if (header.size() <= scheme.size() || header.size() > kMaxHeaderBytes ||
      strncasecmp(header.data(), scheme.data(), scheme.size()) != 0) {
    return "";
  }
  header.remove_prefix(scheme.size());
  size_t start = header.find_first_not_of(' ');
  return start == 0 || start == std::string_view::npos ? ""
                                                       : header.substr(start);
}

std::string FromBase64(std::string_view text) {
  std::vector<unsigned char> bytes(text.size() / 4 * 3 + 4);
  int size =
      EVP_DecodeBlock(bytes.data(),
                      reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  // The length that EVP_DecodeBlock returns counts padding as zero bytes.
  for (size_t i = text.size(); size > 0 && i > 0 && text[i - 1] == '='; --i) {
    --size;
  }
  return size <= 0 ? "" : std::string(bytes.begin(), bytes.begin() + size);
}

}  // namespace

bool SameSecret(std::string_view one, std::string_view other) {
  return one.size() == other.size() &&
         CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

bool HasBearer(std::string_view header, std::string_view token) {
  return SameSecret(Credentials(header, "Bearer"), token);
}

bool HasPassword(std::string_view header, std::string_view token) {
  std::string pair = FromBase64(Credentials(header, "Basic"));
  size_t colon = pair.find(':');
  return colon != std::string::npos &&
         SameSecret(std::string_view(pair).substr(colon + 1), token);
}

}  // namespace cairn::server
