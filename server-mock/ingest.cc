// SPDX-License-Identifier: Apache-2.0
#include "ingest.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "clock.h"
#include "format/report_format.h"
#include "gzip.h"

namespace cairn::server {
namespace {

IngestStatus StatusOf(InflateStatus status) {
  switch (status) {
    case InflateStatus::kOk:
      return IngestStatus::kNew;
    case InflateStatus::kTooLarge:
      return IngestStatus::kTooLarge;
    case InflateStatus::kTruncated:
      return IngestStatus::kTruncated;
    case InflateStatus::kBroken:
      return IngestStatus::kBroken;
    case InflateStatus::kNoMemory:
      break;
  }
  return IngestStatus::kFailed;
}

}  // namespace

std::optional<report::Uuid> UuidInHeader(std::string_view bytes) {
  report::Uuid uuid;
  constexpr size_t at = offsetof(format::FileHeader, report_uuid);
  if (bytes.size() < sizeof(format::FileHeader) ||
      std::memcmp(bytes.data(), format::kMagic, sizeof(format::kMagic)) != 0) {
    return std::nullopt;
  }
  std::memcpy(uuid.data(), bytes.data() + at, uuid.size());
  return uuid;
}

IngestStatus CheckBody(const report::Uuid& uuid,
                       std::string_view body,
                       bool gzip,
                       size_t max_report_bytes,
                       std::string* bytes) {
  if (gzip) {
    InflateStatus status = Inflate(body, max_report_bytes, bytes);
    if (status != InflateStatus::kOk) {
      return StatusOf(status);
    }
  } else if (body.size() > max_report_bytes) {
    return IngestStatus::kTooLarge;
  } else {
    bytes->assign(body);
  }
  auto found = UuidInHeader(*bytes);
  if (!found) {
    return IngestStatus::kNotAReport;
  }
  return *found == uuid ? IngestStatus::kNew : IngestStatus::kWrongUuid;
}

Ingest::Ingest(ReportFiles* files,
               Store* store,
               size_t max_report_bytes,
               std::function<void()> on_new)
    : files_(files),
      store_(store),
      max_report_bytes_(max_report_bytes),
      on_new_(std::move(on_new)) {}

IngestStatus Ingest::Put(const report::Uuid& uuid,
                         std::string_view body,
                         bool gzip) {
  std::string bytes;
  IngestStatus status = CheckBody(uuid, body, gzip, max_report_bytes_, &bytes);
  if (status != IngestStatus::kNew) {
    return status;
  }
  status = Keep(uuid, bytes);
  if (status == IngestStatus::kNew) {
    on_new_();
  }
  return status;
}

IngestStatus Ingest::Keep(const report::Uuid& uuid, const std::string& bytes) {
  std::lock_guard lock(locks_[uuid[15] % locks_.size()]);
  switch (files_->Put(uuid, bytes)) {
    case ReportFiles::PutResult::kNew:
    case ReportFiles::PutResult::kSame:
      break;
    case ReportFiles::PutResult::kDifferent:
      return IngestStatus::kDifferent;
    case ReportFiles::PutResult::kDiskFull:
      return IngestStatus::kNoRoom;
    case ReportFiles::PutResult::kFailed:
      return IngestStatus::kFailed;
  }
  try {
    // Bytes without a row are of a run that died before it acknowledged.
    bool added = store_->AddReport(
        report::UuidText(uuid), static_cast<int64_t>(bytes.size()), UnixMs());
    return added ? IngestStatus::kNew : IngestStatus::kSame;
  } catch (const DatabaseError& error) {
    return error.full ? IngestStatus::kNoRoom : IngestStatus::kFailed;
  }
}

size_t Ingest::Heal() {
  size_t healed = 0;
  files_->ForEach(
      [&](const report::Uuid& uuid, uint64_t bytes, int64_t time_s) {
        healed += store_->AddReport(
            report::UuidText(uuid), static_cast<int64_t>(bytes), time_s * 1000);
      });
  return healed;
}

}  // namespace cairn::server
