// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <tuple>
#include <utility>

#include "upload/directory.h"
#include "upload/no_replace.h"

namespace cairn::upload {
namespace {

constexpr size_t kMaxNames = 65536;
constexpr int64_t kNsPerSecond = 1000000000;

int64_t ModifiedNs(const struct stat& status) {
  return status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Directory::Directory(std::string path)
    : path_(std::move(path)),
      fd_(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  while (path_.size() > 1 && path_.back() == '/') {
    path_.pop_back();
  }
}

std::vector<FileEntry> Directory::List(const std::string& suffix) const {
  std::vector<FileEntry> found;
  const int copy = openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> names(
      copy >= 0 ? fdopendir(copy) : nullptr, closedir);
  if (names == nullptr) {
    if (copy >= 0) {
      close(copy);
    }
    return found;
  }
  size_t looked_at = 0;
  while (const dirent* entry = readdir(names.get())) {
    const std::string name = entry->d_name;
    struct stat status{};
    if (++looked_at > kMaxNames) {
      break;
    }
    if (name.ends_with(suffix) && name.size() > suffix.size() &&
        fstatat(fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode)) {
      found.push_back({name, ModifiedNs(status)});
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(b.modified_ns, a.name) < std::tie(a.modified_ns, b.name);
  });
  return found;
}

Descriptor Directory::Open(const std::string& name, bool writable) const {
  Descriptor file(openat(fd(),
                         name.c_str(),
                         (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW |
                             O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!file.valid() || fstat(file.get(), &status) != 0 ||
      !S_ISREG(status.st_mode)) {
    return Descriptor();
  }
  return file;
}

bool ReadWhole(const Descriptor& fd,
               uint64_t limit,
               std::vector<uint8_t>* bytes) {
  struct stat status{};
  if (fstat(fd.get(), &status) != 0 ||
      static_cast<uint64_t>(status.st_size) > limit) {
    return false;
  }
  bytes->resize(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < bytes->size()) {
    const ssize_t got = pread(fd.get(),
                              bytes->data() + done,
                              bytes->size() - done,
                              static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return false;
    }
    if (got == 0) {
      break;
    }
    done += static_cast<size_t>(got);
  }
  bytes->resize(done);
  return true;
}

bool Directory::Read(const std::string& name,
                     uint64_t limit,
                     std::vector<uint8_t>* bytes) const {
  const Descriptor file = Open(name, false);
  return file.valid() && ReadWhole(file, limit, bytes);
}

bool Directory::Rename(const std::string& from, const std::string& to) const {
  if (RenameNoReplace(fd(), from.c_str(), to.c_str())) {
    return true;
  }
  const bool not_known = errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
  struct stat status{};
  const bool there =
      fstatat(fd(), to.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (not_known && !there) {
    return renameat(fd(), from.c_str(), fd(), to.c_str()) == 0;
  }
  return there &&
         fstatat(fd(), from.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0;
}

bool Directory::Move(const std::string& name, const std::string& folder) const {
  if (mkdirat(fd(), folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return false;
  }
  const Descriptor target(openat(
      fd(), folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return target.valid() &&
         renameat(fd(), name.c_str(), target.get(), name.c_str()) == 0;
}

bool Directory::Remove(const std::string& name) const {
  return unlinkat(fd(), name.c_str(), 0) == 0;
}

void Directory::SetModified(const std::string& name,
                            int64_t modified_ns) const {
  const timespec when{static_cast<time_t>(modified_ns / kNsPerSecond),
                      static_cast<long>(modified_ns % kNsPerSecond)};
  const timespec times[2] = {when, when};
  // Only the order of the queue is at stake.
  if (utimensat(fd(), name.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) {
    return;
  }
}

bool Directory::IsStill(const std::string& name, const Descriptor& file) const {
  struct stat by_name{}, by_fd{};
  return fstatat(fd(), name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 &&
         fstat(file.get(), &by_fd) == 0 && by_name.st_dev == by_fd.st_dev &&
         by_name.st_ino == by_fd.st_ino;
}

}  // namespace cairn::upload
