// SPDX-License-Identifier: Apache-2.0
//
// Put: temporary file → write → fsync → link under its name → fsync of the
// folder. `link`, not `rename`: it never replaces what is there.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "descriptor.h"
#include "files.h"
#include "format/report_format.h"

namespace cairn::server {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kFile = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

[[noreturn]] void Fail(const std::string& what, const std::string& remedy) {
  throw std::runtime_error(what + ": " + std::strerror(errno) + "; " + remedy);
}

int OpenFolder(int parent, const std::string& name) {
  if (mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST) {
    Fail("cannot make " + name, "check the rights and the room of --data");
  }
  int fd = openat(parent, name.c_str(), kFolder);
  if (fd < 0) {
    Fail("cannot open " + name, "it must be a folder that this user may read");
  }
  return fd;
}

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

// An own position: `fd` itself is left alone.
Directory List(int fd) {
  int copy = openat(fd, ".", kFolder);
  DIR* dir = copy < 0 ? nullptr : fdopendir(copy);
  if (dir == nullptr && copy >= 0) {
    close(copy);
  }
  return Directory(dir, closedir);
}

void RemoveAll(int fd) {
  Directory dir = List(fd);
  while (dirent* entry = dir ? readdir(dir.get()) : nullptr) {
    if (entry->d_name[0] != '.') {
      unlinkat(fd, entry->d_name, 0);
    }
  }
}

std::string FileName(const report::Uuid& uuid) {
  return report::UuidText(uuid) + format::kReportSuffix;
}

std::optional<report::Uuid> UuidOf(const std::string& file_name) {
  const std::string suffix = format::kReportSuffix;
  if (!file_name.ends_with(suffix)) {
    return std::nullopt;
  }
  return report::ParseUuid(
      file_name.substr(0, file_name.size() - suffix.size()));
}

std::optional<std::string> ReadAt(int shard, const std::string& name) {
  Descriptor file(openat(shard, name.c_str(), kFile));
  return file.ok() ? ReadAll(file.get()) : std::nullopt;
}

ReportFiles::PutResult Failure() {
  return errno == ENOSPC || errno == EDQUOT ? ReportFiles::PutResult::kDiskFull
                                            : ReportFiles::PutResult::kFailed;
}

}  // namespace

ReportFiles::ReportFiles(const std::string& directory) {
  directory_ = OpenFolder(AT_FDCWD, directory);
  lock_ = openat(
      directory_, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock_ < 0) {
    Fail("cannot make a file in " + directory, "check its rights and room");
  }
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    Fail(directory + " is in use by another server",
         "end that one or give another --data");
  }
  reports_ = OpenFolder(directory_, "reports");
  temporary_ = OpenFolder(directory_, "temporary");
  RemoveAll(temporary_);
  fsync(directory_);
}

ReportFiles::~ReportFiles() {
  for (int fd : {temporary_, reports_, lock_, directory_}) {
    if (fd >= 0) {
      close(fd);
    }
  }
}

// The folder for a report, "ab" for "ab12…"; -1 with errno.
int ReportFiles::OpenShard(const std::string& name, bool create) const {
  std::string shard = name.substr(0, 2);
  if (create && mkdirat(reports_, shard.c_str(), 0700) == 0) {
    fsync(reports_);
  }
  return openat(reports_, shard.c_str(), kFolder);
}

ReportFiles::PutResult ReportFiles::Put(const report::Uuid& uuid,
                                        std::string_view bytes) {
  std::string name = FileName(uuid);
  Descriptor shard(OpenShard(name, true));
  if (!shard.ok()) {
    return Failure();
  }
  if (auto present = ReadAt(shard.get(), name)) {
    // A run that died between link and fsync may have left the name undurable.
    if (*present != bytes) {
      return PutResult::kDifferent;
    }
    return fsync(shard.get()) == 0 ? PutResult::kSame : Failure();
  }
  return Write(shard.get(), name, bytes);
}

ReportFiles::PutResult ReportFiles::Write(int shard,
                                          const std::string& name,
                                          std::string_view bytes) {
  Descriptor file(openat(temporary_,
                         name.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                         0600));
  bool done = file.ok() && WriteAll(file.get(), bytes) &&
              fsync(file.get()) == 0 &&
              linkat(temporary_, name.c_str(), shard, name.c_str(), 0) == 0 &&
              fsync(shard) == 0;
  PutResult result = done ? PutResult::kNew : Failure();
  unlinkat(temporary_, name.c_str(), 0);
  return result;
}

std::optional<std::string> ReportFiles::Read(const report::Uuid& uuid) const {
  std::string name = FileName(uuid);
  Descriptor shard(OpenShard(name, false));
  return shard.ok() ? ReadAt(shard.get(), name) : std::nullopt;
}

void ReportFiles::ForEach(
    const std::function<void(const report::Uuid&, uint64_t, int64_t)>& visit)
    const {
  Directory shards = List(reports_);
  while (dirent* entry = shards ? readdir(shards.get()) : nullptr) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    Descriptor shard(openat(reports_, entry->d_name, kFolder));
    Directory files =
        shard.ok() ? List(shard.get()) : Directory(nullptr, closedir);
    while (dirent* file = files ? readdir(files.get()) : nullptr) {
      struct stat status;
      auto uuid = UuidOf(file->d_name);
      if (uuid &&
          fstatat(shard.get(), file->d_name, &status, AT_SYMLINK_NOFOLLOW) ==
              0) {
        visit(*uuid, static_cast<uint64_t>(status.st_size), status.st_mtime);
      }
    }
  }
}

}  // namespace cairn::server
