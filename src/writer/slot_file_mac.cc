// SPDX-License-Identifier: Apache-2.0
//
// The calls are libsystem_kernel's: a trap each, and errno in the calling
// thread's own data. They are made by threads of ours and by install, never by
// the crashed thread.
#include "writer/slot_file.h"

#include <TargetConditionals.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cairn::writer {
namespace {

constexpr size_t kZeroBytes = 4096;

int At(int32_t directory) {
  return directory >= 0 ? directory : AT_FDCWD;
}

// F_PREALLOCATE takes blocks but leaves the length. What the file system will
// not promise is written as zeros.
int Preallocate(int32_t fd, size_t bytes) {
  fstore_t store = {};
  store.fst_flags = F_ALLOCATEALL;
  store.fst_posmode = F_PEOFPOSMODE;
  store.fst_length = static_cast<off_t>(bytes);
  if (fcntl(fd, F_PREALLOCATE, &store) == 0) {
    return ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  }
  if (errno == ENOSPC || errno == EDQUOT) {
    return errno;
  }
  static constexpr uint8_t kZeros[kZeroBytes] = {};
  for (size_t at = 0; at < bytes;) {
    const size_t part = bytes - at < kZeroBytes ? bytes - at : kZeroBytes;
    const ssize_t put = pwrite(fd, kZeros, part, static_cast<off_t>(at));
    if (put <= 0) {
      return put < 0 ? errno : EIO;
    }
    at += static_cast<size_t>(put);
  }
  return 0;
}

#if defined(F_SETPROTECTIONCLASS)
// Readable whenever the first unlock since boot has been: a crash may come
// while the device is locked (iOS; elsewhere the call says no).
constexpr int kProtectionClassC = 3;
#endif

}  // namespace

System OwnSystem() {
#if defined(__x86_64__)
  constexpr format::Architecture kArchitecture = format::Architecture::kX86_64;
#else
  constexpr format::Architecture kArchitecture = format::Architecture::kArm64;
#endif
#if defined(TARGET_OS_IPHONE) && TARGET_OS_IPHONE
  return {kArchitecture, format::OperatingSystem::kIos};
#else
  return {kArchitecture, format::OperatingSystem::kMac};
#endif
}

bool IdentifyFile(int32_t fd, FileIdentity* out) {
  struct stat facts = {};
  if (fstat(fd, &facts) != 0) {
    return false;
  }
  out->device = static_cast<uint32_t>(facts.st_dev);
  out->inode = facts.st_ino;
  return true;
}

uint64_t FileSizeLimit() {
  struct rlimit limit = {};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : ~uint64_t{0};
}

int CreateFile(int32_t directory, const char* name, int32_t* fd) {
  *fd = openat(At(directory),
               name,
               O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               0600);
  if (*fd < 0) {
    return errno;
  }
#if defined(F_SETPROTECTIONCLASS)
  fcntl(*fd, F_SETPROTECTIONCLASS, kProtectionClassC);
#endif
  return 0;
}

int SizeFile(int32_t fd, size_t first_bytes, size_t total_bytes) {
  const int failed = Preallocate(fd, first_bytes);
  if (failed != 0 || total_bytes <= first_bytes) {
    return failed;
  }
  return ftruncate(fd, static_cast<off_t>(total_bytes)) == 0 ? 0 : errno;
}

// No lock: iOS ends an app that is suspended while it holds one in a shared
// container (0xdead10cc, A5.24). Process id and start time decide alone.
void LockFile(int32_t /*fd*/) {}

int MapFile(int32_t fd, size_t total_bytes, size_t ready_bytes, void** out) {
  void* map =
      mmap(nullptr, total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) {
    return errno;
  }
  madvise(map, ready_bytes, MADV_WILLNEED);
  *out = map;
  return 0;
}

void UnmapFile(void* map, size_t bytes) {
  munmap(map, bytes);
}

void TruncateFile(int32_t fd, size_t bytes) {
  ftruncate(fd, static_cast<off_t>(bytes));
}

void TruncatePath(const char* path, size_t bytes) {
  truncate(path, static_cast<off_t>(bytes));
}

bool RenameFile(int32_t directory, const char* from, const char* to) {
  return renameat(At(directory), from, At(directory), to) == 0;
}

void RemoveFile(int32_t directory, const char* name) {
  unlinkat(At(directory), name, 0);
}

void CloseFile(int32_t fd) {
  close(fd);
}

// A byte written through the descriptor takes the block or says no; the page
// itself is then sure to be there. The bytes are behind what is committed.
bool PopulateFile(int32_t fd, void* /*map*/, size_t from, size_t to) {
  const size_t page_bytes = 4096;
  for (size_t at = from; at < to; at = (at / page_bytes + 1) * page_bytes) {
    const uint8_t zero = 0;
    if (pwrite(fd, &zero, 1, static_cast<off_t>(at)) != 1) {
      return false;
    }
  }
  return true;
}

bool FillRandom(void* out, size_t bytes) {
  return getentropy(out, bytes) == 0;
}

}  // namespace cairn::writer
