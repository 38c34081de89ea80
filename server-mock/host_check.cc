// SPDX-License-Identifier: Apache-2.0
#include "host_check.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace cairn::server {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return lower;
}

bool IsPort(std::string_view text) {
  return std::all_of(
      text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "Photos.Example:80" → "photos.example", "[::1]:80" → "::1"; "" where it is
// neither.
std::string NameOf(std::string_view header) {
  const bool is_v6 = header.starts_with('[');
  const size_t end =
      is_v6 ? header.find(']') : std::min(header.find(':'), header.size());
  if (end == std::string_view::npos) {
    return "";
  }
  const std::string_view behind = header.substr(is_v6 ? end + 1 : end);
  if (!behind.empty() && (behind[0] != ':' || !IsPort(behind.substr(1)))) {
    return "";
  }
  std::string_view name = header.substr(is_v6, end - is_v6);
  if (name.ends_with('.')) {
    name.remove_suffix(1);
  }
  return LowerCase(name);
}

}  // namespace

bool NamesThisServer(std::string_view header, const Options& options) {
  const std::string name = NameOf(header);
  if (name.empty()) {
    return false;
  }
  return IsLoopback(name) || name == LowerCase(options.host) ||
         std::any_of(options.allowed_hosts.begin(),
                     options.allowed_hosts.end(),
                     [&](const std::string& allowed) {
                       return name == LowerCase(allowed);
                     });
}

}  // namespace cairn::server
