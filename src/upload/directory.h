// SPDX-License-Identifier: Apache-2.0
//
// A directory of reports, held open: names are looked up below its descriptor,
// never through its path again, and no symbolic link is followed.
//
// Ordinary code, one thread.
#ifndef CAIRN_UPLOAD_DIRECTORY_H_
#define CAIRN_UPLOAD_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::upload {

// Owns a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct FileEntry {
  std::string name;
  int64_t modified_ns = 0;
};

class Directory {
 public:
  explicit Directory(std::string path);

  bool valid() const { return fd_.valid(); }
  const std::string& path() const { return path_; }
  std::string PathOf(const std::string& name) const {
    return path_ + "/" + name;
  }

  // Regular files whose name ends in `suffix`, newest first; ties by name. At
  // most 65,536 names are looked at.
  std::vector<FileEntry> List(const std::string& suffix) const;
  // Opens a regular file. Invalid on failure.
  Descriptor Open(const std::string& name, bool writable) const;
  // The whole file; false when it is not regular, longer than `limit` or
  // unreadable.
  bool Read(const std::string& name,
            uint64_t limit,
            std::vector<uint8_t>* bytes) const;
  // Renames, never over another file. True also when `from` is gone and `to`
  // is there: somebody else did it.
  bool Rename(const std::string& from, const std::string& to) const;
  // Moves into a folder of this directory, made with mode 0700 if missing.
  bool Move(const std::string& name, const std::string& folder) const;
  bool Remove(const std::string& name) const;
  void SetModified(const std::string& name, int64_t modified_ns) const;
  // True when `name` is still the file that is open as `fd`.
  bool IsStill(const std::string& name, const Descriptor& fd) const;
  int fd() const { return fd_.get(); }

 private:
  std::string path_;
  Descriptor fd_;
};

bool ReadWhole(const Descriptor& fd,
               uint64_t limit,
               std::vector<uint8_t>* bytes);

// The right to change files of a report directory: one process at a time.
// Released at destruction, and by the kernel when the process dies.
class QueueLock {
 public:
  // Does not wait.
  explicit QueueLock(const Directory& directory);
  ~QueueLock();
  QueueLock(const QueueLock&) = delete;
  QueueLock& operator=(const QueueLock&) = delete;
  bool held() const { return held_; }

 private:
  Descriptor fd_;
  bool held_ = false;
};

enum class LockState { kFree, kHeld, kUnknown };
// Does anybody hold an open-file-description lock on this file?
LockState ProbeLock(const Descriptor& fd);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_DIRECTORY_H_
