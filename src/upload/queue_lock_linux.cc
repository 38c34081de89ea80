// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <cerrno>

#include "upload/directory.h"

namespace cairn::upload {
namespace {

constexpr const char* kLockName = ".upload.lock";

struct flock WholeFile(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

// An open-file-description lock: it excludes threads of this process too, and
// a child that inherits the descriptor cannot keep it past the explicit unlock.
QueueLock::QueueLock(const Directory& directory)
    : fd_(openat(directory.fd(),
                 kLockName,
                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                 0600)) {
  struct flock lock = WholeFile(F_WRLCK);
  held_ = fd_.valid() && fcntl(fd_.get(), F_OFD_SETLK, &lock) == 0;
}

QueueLock::~QueueLock() {
  if (held_) {
    struct flock lock = WholeFile(F_UNLCK);
    fcntl(fd_.get(), F_OFD_SETLK, &lock);
  }
}

LockState ProbeLock(const Descriptor& fd) {
  struct flock lock = WholeFile(F_WRLCK);
  if (fcntl(fd.get(), F_OFD_GETLK, &lock) != 0) {
    return LockState::kUnknown;
  }
  return lock.l_type == F_UNLCK ? LockState::kFree : LockState::kHeld;
}

}  // namespace cairn::upload
