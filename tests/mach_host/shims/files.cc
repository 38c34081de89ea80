// SPDX-License-Identifier: Apache-2.0
//
// Files: flags, `struct stat`, directory entries, record locks and maps differ.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "../darwin.h"
#include "../shim_table.h"

namespace mach_host {
namespace {

int OpenFlags(int flags) {
  int out = flags & 3;
  const auto map = [&](int darwin, int linux) {
    if ((flags & darwin) != 0)
      out |= linux;
  };
  map(darwin::kONonBlock, O_NONBLOCK);
  map(darwin::kOAppend, O_APPEND);
  map(darwin::kOSync, O_SYNC);
  map(darwin::kONoFollow, O_NOFOLLOW);
  map(darwin::kOCreat, O_CREAT);
  map(darwin::kOTrunc, O_TRUNC);
  map(darwin::kOExcl, O_EXCL);
  map(darwin::kONoCtty, O_NOCTTY);
  map(darwin::kODirectory, O_DIRECTORY);
  map(darwin::kOCloExec, O_CLOEXEC);
  return out;
}

int DarwinFlags(int flags) {
  int out = flags & 3;
  if ((flags & O_NONBLOCK) != 0)
    out |= darwin::kONonBlock;
  if ((flags & O_APPEND) != 0)
    out |= darwin::kOAppend;
  return out;
}

int At(int descriptor) {
  return descriptor == darwin::kAtFdcwd ? AT_FDCWD : descriptor;
}

int AtFlags(int flags) {
  return ((flags & darwin::kAtSymlinkNoFollow) != 0 ? AT_SYMLINK_NOFOLLOW : 0) |
         ((flags & darwin::kAtRemoveDir) != 0 ? AT_REMOVEDIR : 0);
}

// Both have the mode as their last, variadic argument, in the register it would
// be in anyway.
int Open(const char* path, int flags, unsigned mode) {
  return open(path, OpenFlags(flags), mode);
}
int OpenAt(int at, const char* path, int flags, unsigned mode) {
  return openat(At(at), path, OpenFlags(flags), mode);
}
int OpenProtected(const char* path, int flags, int, int, unsigned mode) {
  return open(path, OpenFlags(flags), mode);
}
int Creat(const char* path, unsigned mode) {
  return creat(path, mode);
}

void Translate(const struct stat& from, darwin::Stat* to) {
  *to = {};
  to->dev = static_cast<std::int32_t>(from.st_dev);
  to->mode = static_cast<std::uint16_t>(from.st_mode);
  to->nlink = static_cast<std::uint16_t>(from.st_nlink);
  to->ino = from.st_ino;
  to->uid = from.st_uid, to->gid = from.st_gid;
  to->rdev = static_cast<std::int32_t>(from.st_rdev);
  to->atime = {from.st_atim.tv_sec, from.st_atim.tv_nsec};
  to->mtime = {from.st_mtim.tv_sec, from.st_mtim.tv_nsec};
  to->ctime = to->birthtime = {from.st_ctim.tv_sec, from.st_ctim.tv_nsec};
  to->size = from.st_size, to->blocks = from.st_blocks;
  to->blksize = static_cast<std::int32_t>(from.st_blksize);
}

int Stat(const char* path, darwin::Stat* out) {
  struct stat got;
  const int result = stat(path, &got);
  if (result == 0)
    Translate(got, out);
  return result;
}
int LStat(const char* path, darwin::Stat* out) {
  struct stat got;
  const int result = lstat(path, &got);
  if (result == 0)
    Translate(got, out);
  return result;
}
int FStat(int descriptor, darwin::Stat* out) {
  struct stat got;
  const int result = fstat(descriptor, &got);
  if (result == 0)
    Translate(got, out);
  return result;
}
int FStatAt(int at, const char* path, darwin::Stat* out, int flags) {
  struct stat got;
  const int result = fstatat(At(at), path, &got, AtFlags(flags));
  if (result == 0)
    Translate(got, out);
  return result;
}
int MkDirAt(int at, const char* path, unsigned mode) {
  return mkdirat(At(at), path, mode);
}
int UnlinkAt(int at, const char* path, int flags) {
  return unlinkat(At(at), path, AtFlags(flags));
}
int RenameAt(int from, const char* a, int to, const char* b) {
  return renameat(At(from), a, At(to), b);
}
// renamex_np, renameatx_np: RENAME_SWAP 2, RENAME_EXCL 4.
int RenameAtX(int from, const char* a, int to, const char* b, unsigned flags) {
  const unsigned linux =
      ((flags & 4) != 0 ? 1u : 0u) | ((flags & 2) != 0 ? 2u : 0u);
  return renameat2(At(from), a, At(to), b, linux);
}
int RenameX(const char* a, const char* b, unsigned flags) {
  return RenameAtX(darwin::kAtFdcwd, a, darwin::kAtFdcwd, b, flags);
}
int FAccessAt(int at, const char* path, int mode, int) {
  return faccessat(At(at), path, mode, 0);
}
int FChmodAt(int at, const char* path, unsigned mode, int) {
  return fchmodat(At(at), path, mode, 0);
}
ssize_t ReadLinkAt(int at, const char* path, char* out, std::size_t size) {
  return readlinkat(At(at), path, out, size);
}

struct Preallocate {
  std::uint32_t flags;
  std::int32_t position;
  std::int64_t offset, length, allocated;
};

int Lock(int descriptor, int command, darwin::Flock* lock) {
  struct flock host = {};
  host.l_start = lock->start, host.l_len = lock->len,
  host.l_whence = lock->whence;
  host.l_type = lock->type == darwin::kFRdLck   ? F_RDLCK
                : lock->type == darwin::kFWrLck ? F_WRLCK
                                                : F_UNLCK;
  const int result = fcntl(descriptor, command, &host);
  lock->type =
      static_cast<std::int16_t>(host.l_type == F_RDLCK   ? darwin::kFRdLck
                                : host.l_type == F_WRLCK ? darwin::kFWrLck
                                                         : darwin::kFUnLck);
  lock->pid = host.l_pid;
  return result;
}

int Fcntl(int descriptor, int command, std::uint64_t argument) {
  auto* pointer = reinterpret_cast<void*>(argument);
  switch (command) {
    case darwin::kFDupFd:
      return fcntl(descriptor, F_DUPFD, static_cast<int>(argument));
    case darwin::kFDupFdCloExec:
      return fcntl(descriptor, F_DUPFD_CLOEXEC, static_cast<int>(argument));
    case darwin::kFGetFd:
      return fcntl(descriptor, F_GETFD);
    case darwin::kFSetFd:
      return fcntl(descriptor, F_SETFD, static_cast<int>(argument));
    case darwin::kFGetFl: {
      const int flags = fcntl(descriptor, F_GETFL);
      return flags < 0 ? flags : DarwinFlags(flags);
    }
    case darwin::kFSetFl:
      return fcntl(descriptor, F_SETFL, OpenFlags(static_cast<int>(argument)));
    case darwin::kFGetLk:
      return Lock(descriptor, F_GETLK, static_cast<darwin::Flock*>(pointer));
    case darwin::kFSetLk:
      return Lock(descriptor, F_SETLK, static_cast<darwin::Flock*>(pointer));
    case darwin::kFSetLkW:
      return Lock(descriptor, F_SETLKW, static_cast<darwin::Flock*>(pointer));
    case darwin::kFOfdSetLk:
      return Lock(
          descriptor, F_OFD_SETLK, static_cast<darwin::Flock*>(pointer));
    case darwin::kFOfdSetLkW:
      return Lock(
          descriptor, F_OFD_SETLKW, static_cast<darwin::Flock*>(pointer));
    case darwin::kFOfdGetLk:
      return Lock(
          descriptor, F_OFD_GETLK, static_cast<darwin::Flock*>(pointer));
    case darwin::kFPreallocate: {
      auto* want = static_cast<Preallocate*>(pointer);
      // F_PEOFPOSMODE 3: from the file's end; the size does not change.
      struct stat now;
      if (fstat(descriptor, &now) != 0)
        return -1;
      const int result =
          fallocate(descriptor, FALLOC_FL_KEEP_SIZE, now.st_size, want->length);
      if (result == 0)
        want->allocated = want->length;
      return result;
    }
    case darwin::kFGetPath: {
      char link[64];
      std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
      const ssize_t length = readlink(link, static_cast<char*>(pointer), 1023);
      if (length < 0)
        return -1;
      static_cast<char*>(pointer)[length] = 0;
      return 0;
    }
    case darwin::kFFullFsync:
      return fsync(descriptor);
    case darwin::kFSetProtectionClass:
      return 0;
    default:
      errno = EINVAL;
      return -1;
  }
}

void* Map(void* address,
          std::size_t length,
          int protection,
          int flags,
          int descriptor,
          std::int64_t offset) {
  int out = flags & 3;
  if ((flags & darwin::kMapFixed) != 0)
    out |= MAP_FIXED;
  if ((flags & darwin::kMapAnon) != 0)
    out |= MAP_ANONYMOUS;
  if ((flags & darwin::kMapNoReserve) != 0)
    out |= MAP_NORESERVE;
  return mmap(address, length, protection, out, descriptor, offset);
}
int ProtectMap(void* address, std::size_t length, int protection) {
  return mprotect(address, length, protection);
}
int SyncMap(void* address,
            std::size_t length,
            int flags) {  // ASYNC 1, INVALIDATE 2, SYNC 16
  return msync(address,
               length,
               ((flags & 1) != 0 ? MS_ASYNC : 0) |
                   ((flags & 2) != 0 ? MS_INVALIDATE : 0) |
                   ((flags & 16) != 0 ? MS_SYNC : 0));
}

// A directory stream with its current entry in Darwin's layout.
struct Directory {
  DIR* host;
  darwin::Dirent entry;
};
Directory* Wrap(DIR* host) {
  if (host == nullptr)
    return nullptr;
  auto* made = new Directory;
  made->host = host;
  return made;
}
Directory* OpenDir(const char* path) {
  return Wrap(opendir(path));
}
Directory* FdOpenDir(int descriptor) {
  return Wrap(fdopendir(descriptor));
}
darwin::Dirent* ReadDir(Directory* directory) {
  const dirent* got = readdir(directory->host);
  if (got == nullptr)
    return nullptr;
  darwin::Dirent* out = &directory->entry;
  out->ino = got->d_ino;
  out->seekoff = 0;
  out->namlen = static_cast<std::uint16_t>(std::strlen(got->d_name));
  out->reclen = static_cast<std::uint16_t>(24 + out->namlen);
  out->type = got->d_type;
  std::memcpy(out->name, got->d_name, out->namlen + 1u);
  return out;
}
int CloseDir(Directory* directory) {
  const int result = closedir(directory->host);
  delete directory;
  return result;
}
int DirFd(Directory* directory) {
  return dirfd(directory->host);
}
void RewindDir(Directory* directory) {
  rewinddir(directory->host);
}

// UTIME_NOW is -1 there, UTIME_OMIT -2.
const timespec* Times(const timespec* given, timespec* out) {
  if (given == nullptr)
    return nullptr;
  for (int i = 0; i < 2; ++i) {
    out[i] = given[i];
    if (given[i].tv_nsec == -1)
      out[i].tv_nsec = UTIME_NOW;
    if (given[i].tv_nsec == -2)
      out[i].tv_nsec = UTIME_OMIT;
  }
  return out;
}
int FUTimens(int descriptor, const timespec* given) {
  timespec times[2];
  return futimens(descriptor, Times(given, times));
}
int UTimensAt(int at, const char* path, const timespec* given, int flags) {
  timespec times[2];
  return utimensat(At(at), path, Times(given, times), AtFlags(flags));
}

struct StatVfs {
  std::uint64_t bsize, frsize;
  std::uint32_t blocks, bfree, bavail, files, ffree, favail;
  std::uint64_t fsid, flag, namemax;
};
int StatVfsAt(const char* path, StatVfs* out) {
  struct statvfs got;
  if (statvfs(path, &got) != 0)
    return -1;
  *out = {got.f_bsize,
          got.f_frsize,
          static_cast<std::uint32_t>(got.f_blocks),
          static_cast<std::uint32_t>(got.f_bfree),
          static_cast<std::uint32_t>(got.f_bavail),
          static_cast<std::uint32_t>(got.f_files),
          static_cast<std::uint32_t>(got.f_ffree),
          static_cast<std::uint32_t>(got.f_favail),
          0,
          0,
          255};
  return 0;
}

}  // namespace

MACH_SHIM("_open", Open);
MACH_SHIM("_open$NOCANCEL", Open);
MACH_SHIM("_openat", OpenAt);
MACH_SHIM("_open_dprotected_np", OpenProtected);
MACH_SHIM("_creat", Creat);
MACH_SHIM("_stat$INODE64", Stat);
MACH_SHIM("_stat", Stat);
MACH_SHIM("_lstat$INODE64", LStat);
MACH_SHIM("_lstat", LStat);
MACH_SHIM("_fstat$INODE64", FStat);
MACH_SHIM("_fstat", FStat);
MACH_SHIM("_fstatat$INODE64", FStatAt);
MACH_SHIM("_fstatat", FStatAt);
MACH_SHIM("_mkdirat", MkDirAt);
MACH_SHIM("_unlinkat", UnlinkAt);
MACH_SHIM("_renameat", RenameAt);
MACH_SHIM("_renameatx_np", RenameAtX);
MACH_SHIM("_renamex_np", RenameX);
MACH_SHIM("_faccessat", FAccessAt);
MACH_SHIM("_fchmodat", FChmodAt);
MACH_SHIM("_readlinkat", ReadLinkAt);
MACH_SHIM("_fcntl", Fcntl);
MACH_SHIM("_mmap", Map);
MACH_SHIM("_mprotect", ProtectMap);
MACH_SHIM("_msync", SyncMap);
MACH_SHIM("_opendir$INODE64", OpenDir);
MACH_SHIM("_opendir", OpenDir);
MACH_SHIM("_fdopendir$INODE64", FdOpenDir);
MACH_SHIM("_fdopendir", FdOpenDir);
MACH_SHIM("_readdir$INODE64", ReadDir);
MACH_SHIM("_readdir", ReadDir);
MACH_SHIM("_closedir", CloseDir);
MACH_SHIM("_dirfd", DirFd);
MACH_SHIM("_rewinddir", RewindDir);
MACH_SHIM("_rewinddir$INODE64", RewindDir);
MACH_SHIM("_statvfs", StatVfsAt);
MACH_SHIM("_writev$NOCANCEL", writev);
MACH_SHIM("_futimens", FUTimens);
MACH_SHIM("_utimensat", UTimensAt);
MACH_SHIM("_realpath$DARWIN_EXTSN", realpath);

}  // namespace mach_host
