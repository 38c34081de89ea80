// SPDX-License-Identifier: Apache-2.0
#include "writer/slot.h"

#include "safe/bytes.h"
#include "safe/clock.h"
#include "safe/crc32c.h"
#include "safe/text.h"
#include "writer/slot_file.h"

namespace cairn::writer {
namespace {

using format::FileHeader;

constexpr int kErrnoIo = 5;
constexpr int kErrnoTooBig = 27;  // EFBIG

using Path = safe::Text<784>;

bool IsStill(int32_t fd, uint64_t device, uint64_t inode) {
  FileIdentity now;
  return fd >= 0 && IdentifyFile(fd, &now) && now.device == device &&
         now.inode == inode;
}

void FillHeader(const SlotSpec& spec,
                const uint8_t uuid[16],
                FileHeader* header) {
  safe::Copy(header->magic, format::kMagic, sizeof(header->magic));
  header->format_version = format::kFormatVersion;
  header->least_reader_version = format::kLeastReaderVersion;
  header->header_bytes = sizeof(FileHeader);
  header->byte_order = format::kLittleEndian;
  header->pointer_bytes = sizeof(void*);
  const System own = OwnSystem();
  header->architecture = static_cast<uint16_t>(own.architecture);
  header->operating_system = static_cast<uint16_t>(own.operating_system);
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
  if (!FillRandom(out, 16)) {
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
  const int refused = CreateFile(relative ? spec.directory.fd : kNoDirectory,
                                 relative ? file.c_str() : path.c_str(),
                                 &out->fd);
  if (refused != 0) {
    return refused;
  }
  out->first_bytes = spec.first_bytes;
  out->total_bytes = total;
  int failed = SizeFile(out->fd, spec.first_bytes, total);
  FileIdentity identity{};
  if (failed == 0 && !IdentifyFile(out->fd, &identity)) {
    failed = kErrnoIo;
  }
  void* map = nullptr;
  if (failed == 0) {
    LockFile(out->fd);
    failed =
        MapFile(out->fd,
                total,
                spec.first_bytes < kReadyBytes ? spec.first_bytes : kReadyBytes,
                &map);
  }
  if (failed != 0) {
    RemoveSlot(out, spec.directory);
    return failed;
  }
  out->device = identity.device;
  out->inode = identity.inode;
  out->header = static_cast<FileHeader*>(map);
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
      static_cast<size_t>(header->committed_bytes + spare_bytes);
  safe::Text<64> old_file, new_file;
  SlotFileName(slot->name, format::kSlotSuffix, &old_file);
  SlotFileName(slot->name, format::kReportSuffix, &new_file);
  Path old_path, new_path;
  FullPath(directory, old_file.c_str(), &old_path);
  FullPath(directory, new_file.c_str(), &new_path);
  if (IsStill(slot->fd, slot->device, slot->inode)) {
    TruncateFile(slot->fd, committed);
  } else {
    TruncatePath(old_path.c_str(), committed);
  }
  return (IsStill(directory.fd, directory.device, directory.inode) &&
          RenameFile(directory.fd, old_file.c_str(), new_file.c_str())) ||
         RenameFile(kNoDirectory, old_path.c_str(), new_path.c_str());
}

void RemoveSlot(Slot* slot, const SlotDirectory& directory) {
  safe::Text<64> file;
  SlotFileName(slot->name, format::kSlotSuffix, &file);
  if (slot->header != nullptr) {
    UnmapFile(slot->header, slot->total_bytes);
  }
  if (IsStill(directory.fd, directory.device, directory.inode)) {
    RemoveFile(directory.fd, file.c_str());
  } else {
    Path path;
    FullPath(directory, file.c_str(), &path);
    RemoveFile(kNoDirectory, path.c_str());
  }
  const bool ours =
      slot->inode == 0 || IsStill(slot->fd, slot->device, slot->inode);
  if (slot->fd >= 0 && ours) {
    CloseFile(slot->fd);
  }
  *slot = {};
  slot->fd = -1;
}

bool PopulateSecondPart(const Slot& slot, size_t from, size_t to) {
  return to <= slot.total_bytes && from < to &&
         PopulateFile(slot.fd, slot.header, from, to);
}

}  // namespace cairn::writer
