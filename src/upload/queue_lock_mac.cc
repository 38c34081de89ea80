// SPDX-License-Identifier: Apache-2.0
//
// flock(2): it belongs to the open file, so it excludes threads of this process
// too. iOS ends an app that is suspended while it holds a file lock in a shared
// container (0xdead10cc); the queue's lock lives for one sending only, and in
// the app's own directory.
#include <fcntl.h>
#include <sys/file.h>

#include "upload/directory.h"

namespace cairn::upload {
namespace {

constexpr const char* kLockName = ".upload.lock";

}  // namespace

QueueLock::QueueLock(const Directory& directory)
    : fd_(openat(directory.fd(),
                 kLockName,
                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                 0600)) {
  held_ = fd_.valid() && flock(fd_.get(), LOCK_EX | LOCK_NB) == 0;
}

QueueLock::~QueueLock() {
  if (held_) {
    flock(fd_.get(), LOCK_UN);
  }
}

// Slots take no lock here: process id and start time decide.
LockState ProbeLock(const Descriptor& /*fd*/) {
  return LockState::kUnknown;
}

}  // namespace cairn::upload
