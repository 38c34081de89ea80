// SPDX-License-Identifier: Apache-2.0
#include "upload/pause.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <vector>

#include "upload/retry_after.h"

namespace cairn::upload {
namespace {

constexpr const char* kName = ".upload.pause";
constexpr uint64_t kMaxBytes = 64;

}  // namespace

int64_t PauseLeft(const Directory& directory, int64_t now_unix_seconds) {
  std::vector<uint8_t> bytes;
  if (!directory.Read(kName, kMaxBytes, &bytes)) {
    return 0;
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  int64_t end = 0;
  const auto parsed = std::from_chars(text, text + bytes.size(), end);
  if (parsed.ec != std::errc() || end <= now_unix_seconds ||
      end - now_unix_seconds > kMaxRetryAfterSeconds) {
    directory.Remove(kName);
    return 0;
  }
  return end - now_unix_seconds;
}

void SetPause(const Directory& directory,
              int64_t now_unix_seconds,
              int64_t seconds) {
  const std::string text = std::to_string(now_unix_seconds + seconds) + "\n";
  const Descriptor file(
      openat(directory.fd(),
             kName,
             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
             0600));
  // A pause that cannot be kept is asked for again by the server.
  if (!file.valid() || write(file.get(), text.data(), text.size()) < 0) {
    return;
  }
}

}  // namespace cairn::upload
