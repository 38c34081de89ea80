// SPDX-License-Identifier: Apache-2.0
#include "writer/slot_linux.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/mman.h>

#include "safe/bytes.h"
#include "safe/crc32c.h"
#include "safe/syscall_linux.h"
#include "safe/text.h"

namespace cairn::writer {
namespace {

using format::FileHeader;
using safe::AsLong;
using safe::IsError;
using safe::SystemCall;

constexpr int kErrnoIo = 5;
constexpr int kErrnoTooBig = 27;        // EFBIG
constexpr int kErrnoNotSupported = 95;  // EOPNOTSUPP
constexpr int kErrnoNoCall = 38;        // ENOSYS
constexpr long kRlimitFileSize = 1;     // RLIMIT_FSIZE
constexpr long kOfdSetLock = 37;        // F_OFD_SETLK
constexpr long kPopulateWrite = 23;     // MADV_POPULATE_WRITE, Linux 5.14
constexpr size_t kPageBytes = 4096;

using Path = safe::Text<784>;

struct Identity {
  uint64_t device, inode;
};

bool Identify(int32_t fd, Identity* out) {
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

bool IsStill(int32_t fd, uint64_t device, uint64_t inode) {
  Identity now;
  return fd >= 0 && Identify(fd, &now) && now.device == device &&
         now.inode == inode;
}

// Below this many bytes a file may grow without SIGXFSZ.
uint64_t FileSizeLimit() {
  uint64_t limits[2] = {~uint64_t{0}, ~uint64_t{0}};
  SystemCall(SYS_prlimit64, 0, kRlimitFileSize, 0, AsLong(limits));
  return limits[0];
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

// Real blocks for the first part; a sparse rest.
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

struct FileLock {  // struct flock of the 64-bit ABI
  int16_t type, whence;
  int64_t start, length;
  int32_t pid;
};

void FillHeader(const SlotSpec& spec,
                const uint8_t uuid[16],
                FileHeader* header) {
  safe::Copy(header->magic, format::kMagic, sizeof(header->magic));
  header->format_version = format::kFormatVersion;
  header->least_reader_version = format::kLeastReaderVersion;
  header->header_bytes = sizeof(FileHeader);
  header->byte_order = format::kLittleEndian;
  header->pointer_bytes = sizeof(void*);
  header->architecture = static_cast<uint16_t>(format::Architecture::kX86_64);
  header->operating_system =
      static_cast<uint16_t>(format::OperatingSystem::kLinux);
  safe::Copy(header->report_uuid, uuid, 16);
  header->header_crc = HeaderCrc(*header);
  header->installer = spec.installer;
  header->first_part_bytes = spec.first_bytes;
  header->install_bytes = sizeof(FileHeader);
  __atomic_store_n(
      &header->committed_bytes, sizeof(FileHeader), __ATOMIC_RELEASE);
}

void SlotFileName(const char* name, const char* suffix, safe::Text<64>* out) {
  out->Add(name).Add(suffix);
}

void FullPath(const SlotDirectory& directory, const char* file, Path* out) {
  out->Add(directory.path).Add("/").Add(file);
}

}  // namespace

uint32_t HeaderCrc(const FileHeader& header) {
  const uint32_t head =
      safe::Crc32c(0, &header, offsetof(FileHeader, header_crc));
  return safe::Crc32c(head, header.report_uuid, sizeof(header.report_uuid));
}

void MakeUuid(uint8_t out[16]) {
  constexpr long kNonBlocking = 1;  // GRND_NONBLOCK
  if (SystemCall(SYS_getrandom, AsLong(out), 16, kNonBlocking) != 16) {
    uint64_t mixed[2] = {safe::UnixTimeNs() * 0x9e3779b97f4a7c15u,
                         safe::MonotonicNs() ^ reinterpret_cast<uint64_t>(out)};
    mixed[1] += static_cast<uint64_t>(safe::ThreadId()) * 0xbf58476d1ce4e5b9u;
    safe::Copy(out, mixed, 16);
  }
  out[6] = static_cast<uint8_t>((out[6] & 0x0f) | 0x40);
  out[8] = static_cast<uint8_t>((out[8] & 0x3f) | 0x80);
}

void UuidText(const uint8_t uuid[16], char out[37]) {
  static constexpr char kDigits[] = "0123456789abcdef";
  size_t at = 0;
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      out[at++] = '-';
    }
    out[at++] = kDigits[uuid[i] >> 4];
    out[at++] = kDigits[uuid[i] & 15];
  }
  out[at] = '\0';
}

int MakeSlot(const SlotSpec& spec, Slot* out) {
  *out = {};
  out->fd = -1;
  const uint64_t limit = FileSizeLimit();
  if (limit < spec.first_bytes) {
    return kErrnoTooBig;
  }
  const size_t total = limit < spec.first_bytes + spec.second_bytes
                           ? spec.first_bytes
                           : spec.first_bytes + spec.second_bytes;
  uint8_t uuid[16];
  MakeUuid(uuid);
  UuidText(uuid, out->name);
  safe::Text<64> file;
  SlotFileName(out->name, format::kSlotSuffix, &file);
  Path path;
  FullPath(spec.directory, file.c_str(), &path);
  const bool relative =
      IsStill(spec.directory.fd, spec.directory.device, spec.directory.inode);
  const long flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const long fd = SystemCall(SYS_openat,
                             relative ? spec.directory.fd : AT_FDCWD,
                             AsLong(relative ? file.c_str() : path.c_str()),
                             flags,
                             0600);
  if (IsError(fd)) {
    return static_cast<int>(-fd);
  }
  out->fd = static_cast<int32_t>(fd);
  out->first_bytes = spec.first_bytes;
  out->total_bytes = total;
  int failed = SizeFile(out->fd, spec.first_bytes, total);
  Identity identity{};
  if (failed == 0 && !Identify(out->fd, &identity)) {
    failed = kErrnoIo;
  }
  long map = 0;
  if (failed == 0) {
    const FileLock lock{1 /* F_WRLCK */, 0, 0, 0, 0};
    SystemCall(SYS_fcntl,
               out->fd,
               kOfdSetLock,
               AsLong(&lock));  // refused: identity decides
    map = SystemCall(SYS_mmap,
                     0,
                     static_cast<long>(total),
                     PROT_READ | PROT_WRITE,
                     MAP_SHARED,
                     out->fd,
                     0);
    if (IsError(map)) {
      failed = static_cast<int>(-map);
    }
  }
  if (failed != 0) {
    RemoveSlot(out, spec.directory);
    return failed;
  }
  out->device = identity.device;
  out->inode = identity.inode;
  out->header = reinterpret_cast<FileHeader*>(map);
  SystemCall(
      SYS_madvise, map, static_cast<long>(spec.first_bytes), kPopulateWrite);
  FillHeader(spec, uuid, out->header);
  out->header->second_part_bytes = total - spec.first_bytes;
  return 0;
}

bool ClaimSlot(Slot* slot, const format::ProcessIdentity& owner) {
  FileHeader* header = slot->header;
  if (header == nullptr) {
    return false;
  }
  uint64_t expected = 0;
  const uint64_t claim = static_cast<uint64_t>(owner.pid) | owner.start_ticks
                                                                << 32;
  if (!__atomic_compare_exchange_n(&header->claim,
                                   &expected,
                                   claim,
                                   false,
                                   __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    return false;
  }
  header->owner = owner;
  __atomic_store_n(&header->state,
                   static_cast<uint32_t>(format::SlotState::kClaimed),
                   __ATOMIC_RELEASE);
  return true;
}

bool FinishSlot(Slot* slot,
                const SlotDirectory& directory,
                size_t spare_bytes) {
  FileHeader* header = slot->header;
  __atomic_store_n(&header->state,
                   static_cast<uint32_t>(format::SlotState::kSealed),
                   __ATOMIC_RELEASE);
  const auto committed =
      static_cast<long>(header->committed_bytes + spare_bytes);
  safe::Text<64> old_file, new_file;
  SlotFileName(slot->name, format::kSlotSuffix, &old_file);
  SlotFileName(slot->name, format::kReportSuffix, &new_file);
  Path old_path, new_path;
  FullPath(directory, old_file.c_str(), &old_path);
  FullPath(directory, new_file.c_str(), &new_path);
  if (IsStill(slot->fd, slot->device, slot->inode)) {
    SystemCall(SYS_ftruncate, slot->fd, committed);
  } else {
    SystemCall(SYS_truncate, AsLong(old_path.c_str()), committed);
  }
  long renamed = -1;
  if (IsStill(directory.fd, directory.device, directory.inode)) {
    renamed = SystemCall(SYS_renameat,
                         directory.fd,
                         AsLong(old_file.c_str()),
                         directory.fd,
                         AsLong(new_file.c_str()));
  }
  if (renamed != 0) {
    renamed = SystemCall(SYS_renameat,
                         AT_FDCWD,
                         AsLong(old_path.c_str()),
                         AT_FDCWD,
                         AsLong(new_path.c_str()));
  }
  return renamed == 0;
}

void RemoveSlot(Slot* slot, const SlotDirectory& directory) {
  safe::Text<64> file;
  SlotFileName(slot->name, format::kSlotSuffix, &file);
  if (slot->header != nullptr) {
    SystemCall(
        SYS_munmap, AsLong(slot->header), static_cast<long>(slot->total_bytes));
  }
  if (IsStill(directory.fd, directory.device, directory.inode)) {
    SystemCall(SYS_unlinkat, directory.fd, AsLong(file.c_str()), 0);
  } else {
    Path path;
    FullPath(directory, file.c_str(), &path);
    SystemCall(SYS_unlinkat, AT_FDCWD, AsLong(path.c_str()), 0);
  }
  const bool ours =
      slot->inode == 0 || IsStill(slot->fd, slot->device, slot->inode);
  if (slot->fd >= 0 && ours) {
    SystemCall(SYS_close, slot->fd);
  }
  *slot = {};
  slot->fd = -1;
}

bool PopulateSecondPart(const Slot& slot, size_t from, size_t to) {
  if (to > slot.total_bytes || from >= to) {
    return false;
  }
  const uint64_t base = reinterpret_cast<uint64_t>(slot.header);
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

}  // namespace cairn::writer
