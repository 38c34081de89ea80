// SPDX-License-Identifier: Apache-2.0
//
// A request body → durable bytes and a durable row, or the reason why not.
//
// Any thread; puts of the same uuid wait for each other. When kNew or kSame is
// returned, a power cut loses nothing.
#ifndef CAIRN_SERVER_INGEST_H_
#define CAIRN_SERVER_INGEST_H_

#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "files.h"
#include "report/report.h"
#include "store.h"

namespace cairn::server {

enum class IngestStatus {
  kNew,
  kSame,
  kDifferent,  // the uuid is taken by other bytes
  kNotAReport,
  kWrongUuid,  // the header's uuid is not the path's
  kTruncated,  // the gzip stream ends early
  kBroken,     // not gzip, or damaged
  kTooLarge,   // inflated, over the limit
  kNoRoom,     // disk full; worth trying again later
  kFailed,     // any other fault of this side; worth trying again later
};

// The uuid in a report's header; nullopt when the bytes are no report's.
std::optional<report::Uuid> UuidInHeader(std::string_view bytes);

// The part of Ingest::Put that touches no disk: inflates if `gzip`, checks that
// it is a report and whose. kNew: `bytes` are fit to be kept.
IngestStatus CheckBody(const report::Uuid& uuid,
                       std::string_view body,
                       bool gzip,
                       size_t max_report_bytes,
                       std::string* bytes);

class Ingest {
 public:
  // `on_new` is called after a new report is durable, from the same thread.
  Ingest(ReportFiles* files,
         Store* store,
         size_t max_report_bytes,
         std::function<void()> on_new);

  IngestStatus Put(const report::Uuid& uuid, std::string_view body, bool gzip);
  // Makes rows for bytes that have none: a run that died between the two.
  // Returns how many. Before the first Put.
  size_t Heal();

 private:
  IngestStatus Keep(const report::Uuid& uuid, const std::string& bytes);

  ReportFiles* const files_;
  Store* const store_;
  const size_t max_report_bytes_;
  const std::function<void()> on_new_;
  std::array<std::mutex, 64> locks_;
};

}  // namespace cairn::server

#endif  // CAIRN_SERVER_INGEST_H_
