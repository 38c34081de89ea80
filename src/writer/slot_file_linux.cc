// SPDX-License-Identifier: Apache-2.0
#include "writer/slot_file.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/mman.h>

#include "safe/syscall_linux.h"

namespace cairn::writer {
namespace {

using safe::AsLong;
using safe::IsError;
using safe::SystemCall;

constexpr int kErrnoIo = 5;
constexpr int kErrnoNotSupported = 95;  // EOPNOTSUPP
constexpr int kErrnoNoCall = 38;        // ENOSYS
constexpr long kRlimitFileSize = 1;     // RLIMIT_FSIZE
constexpr long kOfdSetLock = 37;        // F_OFD_SETLK
constexpr long kNoReadAhead = 1;        // MADV_RANDOM
constexpr long kPopulateWrite = 23;     // MADV_POPULATE_WRITE, Linux 5.14
constexpr long kNonBlocking = 1;        // GRND_NONBLOCK
constexpr size_t kPageBytes = 4096;

struct FileLock {  // struct flock of the 64-bit ABI
  int16_t type, whence;
  int64_t start, length;
  int32_t pid;
};

long At(int32_t directory) {
  return directory >= 0 ? directory : AT_FDCWD;
}

int ErrnoOf(long result) {
  return IsError(result) ? static_cast<int>(-result) : 0;
}

// Zeros written one page at a time, where the file system has no fallocate.
int WriteZeros(int32_t fd, size_t bytes) {
  static constexpr uint8_t kZeros[kPageBytes] = {};
  for (size_t at = 0; at < bytes;) {
    const size_t chunk = bytes - at < kPageBytes ? bytes - at : kPageBytes;
    const long put = SystemCall(SYS_pwrite64,
                                fd,
                                AsLong(kZeros),
                                static_cast<long>(chunk),
                                static_cast<long>(at));
    if (put <= 0) {
      return put < 0 ? static_cast<int>(-put) : kErrnoIo;
    }
    at += static_cast<size_t>(put);
  }
  return 0;
}

}  // namespace

System OwnSystem() {
  return {format::Architecture::kX86_64, format::OperatingSystem::kLinux};
}

bool IdentifyFile(int32_t fd, FileIdentity* out) {
  struct statx facts;
  if (SystemCall(SYS_statx,
                 fd,
                 AsLong(""),
                 AT_EMPTY_PATH,
                 STATX_INO,
                 AsLong(&facts)) != 0) {
    return false;
  }
  out->device =
      static_cast<uint64_t>(facts.stx_dev_major) << 32 | facts.stx_dev_minor;
  out->inode = facts.stx_ino;
  return true;
}

uint64_t FileSizeLimit() {
  uint64_t limits[2] = {~uint64_t{0}, ~uint64_t{0}};
  SystemCall(SYS_prlimit64, 0, kRlimitFileSize, 0, AsLong(limits));
  return limits[0];
}

int CreateFile(int32_t directory, const char* name, int32_t* fd) {
  const long flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const long result =
      SystemCall(SYS_openat, At(directory), AsLong(name), flags, 0600);
  *fd = IsError(result) ? -1 : static_cast<int32_t>(result);
  return ErrnoOf(result);
}

int SizeFile(int32_t fd, size_t first_bytes, size_t total_bytes) {
  const long result =
      SystemCall(SYS_fallocate, fd, 0, 0, static_cast<long>(first_bytes));
  if (result == -kErrnoNotSupported || result == -kErrnoNoCall) {
    const int failed = WriteZeros(fd, first_bytes);
    if (failed != 0) {
      return failed;
    }
  } else if (IsError(result)) {
    return static_cast<int>(-result);
  }
  if (total_bytes > first_bytes) {
    const long cut =
        SystemCall(SYS_ftruncate, fd, static_cast<long>(total_bytes));
    return IsError(cut) ? static_cast<int>(-cut) : 0;
  }
  return 0;
}

void LockFile(int32_t fd) {
  const FileLock lock{1 /* F_WRLCK */, 0, 0, 0, 0};
  SystemCall(SYS_fcntl, fd, kOfdSetLock, AsLong(&lock));
}

int MapFile(int32_t fd, size_t total_bytes, size_t ready_bytes, void** out) {
  const long map = SystemCall(SYS_mmap,
                              0,
                              static_cast<long>(total_bytes),
                              PROT_READ | PROT_WRITE,
                              MAP_SHARED,
                              fd,
                              0);
  if (IsError(map)) {
    return ErrnoOf(map);
  }
  // Else the first touch reads ahead in a file of megabytes: a millisecond, and
  // as much page cache, for the sparse part that is not needed.
  SystemCall(SYS_madvise, map, static_cast<long>(total_bytes), kNoReadAhead);
  SystemCall(SYS_madvise, map, static_cast<long>(ready_bytes), kPopulateWrite);
  *out = reinterpret_cast<void*>(map);
  return 0;
}

void UnmapFile(void* map, size_t bytes) {
  SystemCall(SYS_munmap, AsLong(map), static_cast<long>(bytes));
}

void TruncateFile(int32_t fd, size_t bytes) {
  SystemCall(SYS_ftruncate, fd, static_cast<long>(bytes));
}

void TruncatePath(const char* path, size_t bytes) {
  SystemCall(SYS_truncate, AsLong(path), static_cast<long>(bytes));
}

bool RenameFile(int32_t directory, const char* from, const char* to) {
  return SystemCall(SYS_renameat,
                    At(directory),
                    AsLong(from),
                    At(directory),
                    AsLong(to)) == 0;
}

void RemoveFile(int32_t directory, const char* name) {
  SystemCall(SYS_unlinkat, At(directory), AsLong(name), 0);
}

void CloseFile(int32_t fd) {
  SystemCall(SYS_close, fd);
}

bool PopulateFile(int32_t /*fd*/, void* map, size_t from, size_t to) {
  const uint64_t base = reinterpret_cast<uint64_t>(map);
  const uint64_t low = (base + from) & ~(kPageBytes - 1);
  const uint64_t high = base + to;
  long result = SystemCall(SYS_madvise,
                           static_cast<long>(low),
                           static_cast<long>(high - low),
                           kPopulateWrite);
  if (result == 0) {
    return true;
  }
  // Older kernels: a write by a system call reports what a store would die of.
  struct Vector {
    void* data;
    size_t bytes;
  };
  for (uint64_t page = low; page < high; page += kPageBytes) {
    uint8_t zero = 0;
    const Vector local{&zero, 1};
    const Vector remote{
        reinterpret_cast<void*>(page < base + from ? base + from : page), 1};
    if (SystemCall(SYS_process_vm_writev,
                   safe::ProcessId(),
                   AsLong(&local),
                   1,
                   AsLong(&remote),
                   1,
                   0) != 1) {
      return false;
    }
  }
  return true;
}

bool FillRandom(void* out, size_t bytes) {
  return SystemCall(SYS_getrandom,
                    AsLong(out),
                    static_cast<long>(bytes),
                    kNonBlocking) == static_cast<long>(bytes);
}

}  // namespace cairn::writer
