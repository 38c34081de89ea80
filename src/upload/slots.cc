// SPDX-License-Identifier: Apache-2.0
#include "upload/slots.h"

#include <unistd.h>

#include <cstring>
#include <ctime>

#include "report/reader.h"

namespace cairn::upload {
namespace {

using format::FileHeader;
using format::ProcessIdentity;
using format::SlotState;

constexpr size_t kMaxSlotsPerCall = 1000;
constexpr int64_t kNsPerSecond = 1000000000;
// A slot whose header is not there yet may be in the making.
constexpr int64_t kMinHeaderlessAgeNs = 3600 * kNsPerSecond;

// Who may still write into the slot.
ProcessIdentity WriterOf(const FileHeader& header) {
  if (header.claim == 0) {
    return header.installer;
  }
  if (header.owner.pid != 0) {
    return header.owner;
  }
  // Claimed, the owner's identity not yet written: the claim holds its core.
  ProcessIdentity identity = header.installer;
  identity.pid = static_cast<uint32_t>(header.claim);
  identity.start_ticks = header.claim >> 32;
  return identity;
}

bool IsUsed(const FileHeader& header) {
  return header.claim != 0 ||
         header.state >= static_cast<uint32_t>(SlotState::kClaimed);
}

int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

std::string ReportName(const std::string& slot) {
  const size_t stem = slot.size() - std::strlen(format::kSlotSuffix);
  return slot.substr(0, stem) + format::kReportSuffix;
}

// The event's time where the report has one that the clock could have shown;
// else the file's own.
int64_t DateOf(const std::vector<uint8_t>& bytes, int64_t modified_ns) {
  const auto read = report::ReadReport(bytes.data(), bytes.size());
  const auto time = read.report.time_ns;
  return time && *time < static_cast<uint64_t>(INT64_MAX)
             ? static_cast<int64_t>(*time)
             : modified_ns;
}

bool Finish(const Directory& directory, const FileEntry& slot) {
  const Descriptor file = directory.Open(slot.name, true);
  std::vector<uint8_t> bytes;
  if (!file.valid() || !ReadWhole(file, report::kMaxReportBytes, &bytes)) {
    return false;
  }
  const auto length = report::ReportLength(bytes.data(), bytes.size());
  if (!length || *length > bytes.size() ||
      !directory.IsStill(slot.name, file) ||
      ftruncate(file.get(), static_cast<off_t>(*length)) != 0 ||
      fsync(file.get()) != 0) {
    return false;
  }
  bytes.resize(*length);
  directory.SetModified(slot.name, DateOf(bytes, slot.modified_ns));
  return directory.Rename(slot.name, ReportName(slot.name));
}

bool IsOld(const FileEntry& slot) {
  return NowNs() - slot.modified_ns > kMinHeaderlessAgeNs;
}

}  // namespace

Fate FateOf(const FileHeader& header,
            LockState lock,
            ProcessState (*state)(const ProcessIdentity&)) {
  ProcessState writer = state(WriterOf(header));
  if (writer == ProcessState::kUnknown && lock != LockState::kUnknown) {
    writer =
        lock == LockState::kFree ? ProcessState::kDead : ProcessState::kAlive;
  }
  if (writer != ProcessState::kDead) {
    return Fate::kInUse;
  }
  if (IsUsed(header)) {
    return Fate::kFinished;
  }
  return lock == LockState::kFree ? Fate::kAbandoned : Fate::kInUse;
}

bool ReadHeader(const Descriptor& fd, FileHeader* header) {
  return pread(fd.get(), header, sizeof(*header), 0) == sizeof(*header) &&
         std::memcmp(header->magic, format::kMagic, sizeof(header->magic)) == 0;
}

Fate SlotFate(const Directory& directory, const std::string& name) {
  const Descriptor file = directory.Open(name, false);
  FileHeader header{};
  return file.valid() && ReadHeader(file, &header)
             ? FateOf(header, ProbeLock(file))
             : Fate::kInUse;
}

size_t FinishSlots(const Directory& directory) {
  size_t changed = 0, looked_at = 0;
  for (const FileEntry& slot : directory.List(format::kSlotSuffix)) {
    if (++looked_at > kMaxSlotsPerCall) {
      break;
    }
    const Descriptor file = directory.Open(slot.name, true);
    FileHeader header{};
    if (!file.valid()) {
      continue;
    }
    const LockState lock = ProbeLock(file);
    if (!ReadHeader(file, &header)) {
      changed += lock == LockState::kFree && IsOld(slot) &&
                         directory.IsStill(slot.name, file) &&
                         directory.Remove(slot.name)
                     ? 1
                     : 0;
      continue;
    }
    const Fate fate = FateOf(header, lock);
    if (fate == Fate::kFinished) {
      changed += Finish(directory, slot) ? 1 : 0;
    } else if (fate == Fate::kAbandoned) {
      changed +=
          directory.IsStill(slot.name, file) && directory.Remove(slot.name) ? 1
                                                                            : 0;
    }
  }
  return changed;
}

}  // namespace cairn::upload
