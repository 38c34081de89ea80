// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "symbolicate/byte_source.h"

namespace cairn::symbolicate {
namespace {

class Memory : public ByteSource {
 public:
  explicit Memory(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  bool Read(uint64_t offset, void* to, size_t bytes) const override {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset) {
      return false;
    }
    if (bytes != 0) {
      std::memcpy(to, bytes_.data() + offset, bytes);
    }
    return true;
  }

 private:
  std::vector<uint8_t> bytes_;
};

class Part : public ByteSource {
 public:
  Part(std::shared_ptr<const ByteSource> whole, uint64_t offset, uint64_t size)
      : whole_(std::move(whole)), offset_(offset), size_(size) {}
  uint64_t size() const override { return size_; }
  bool Read(uint64_t offset, void* to, size_t bytes) const override {
    return offset <= size_ && bytes <= size_ - offset &&
           whole_->Read(offset_ + offset, to, bytes);
  }

 private:
  std::shared_ptr<const ByteSource> whole_;
  uint64_t offset_, size_;
};

class File : public ByteSource {
 public:
  File(int fd, uint64_t size) : fd_(fd), size_(size) {}
  ~File() override { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  uint64_t size() const override { return size_; }
  bool Read(uint64_t offset, void* to, size_t bytes) const override {
    if (offset > size_ || bytes > size_ - offset) {
      return false;
    }
    auto* out = static_cast<char*>(to);
    while (bytes != 0) {
      ssize_t got = pread(fd_, out, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        return false;
      }
      out += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

 private:
  int fd_;
  uint64_t size_;
};

}  // namespace

std::shared_ptr<const ByteSource> MemorySource(std::vector<uint8_t> bytes) {
  return std::make_shared<Memory>(std::move(bytes));
}

std::shared_ptr<const ByteSource> PartOfSource(
    std::shared_ptr<const ByteSource> whole,
    uint64_t offset,
    uint64_t bytes) {
  if (offset > whole->size() || bytes > whole->size() - offset) {
    return nullptr;
  }
  return std::make_shared<Part>(std::move(whole), offset, bytes);
}

std::shared_ptr<const ByteSource> OpenFileSource(const std::string& path,
                                                 OpenError* error,
                                                 std::string* message) {
  *error = OpenError::kNone;
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    *error = errno == ENOENT || errno == ENOTDIR ? OpenError::kMissing
                                                 : OpenError::kUnreadable;
    *message = path + ": " + std::strerror(errno);
    return nullptr;
  }
  struct stat status{};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    *error = OpenError::kUnreadable;
    *message = path + ": not a regular file";
    return nullptr;
  }
  return std::make_shared<File>(fd, static_cast<uint64_t>(status.st_size));
}

}  // namespace cairn::symbolicate
