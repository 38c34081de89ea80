// SPDX-License-Identifier: Apache-2.0
//
// A file descriptor that closes itself, and whole reads and writes.
//
// Any thread; each returns false or nullopt with errno set.
#ifndef CAIRN_SERVER_DESCRIPTOR_H_
#define CAIRN_SERVER_DESCRIPTOR_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cairn::server {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool WriteAll(int fd, std::string_view bytes);
// From the beginning to the end of a regular file.
std::optional<std::string> ReadAll(int fd);

}  // namespace cairn::server

#endif  // CAIRN_SERVER_DESCRIPTOR_H_
