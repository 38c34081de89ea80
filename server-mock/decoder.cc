// SPDX-License-Identifier: Apache-2.0
#include "decoder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

#include "report/crash_calls.h"
#include "report/names.h"
#include "report/reader.h"
#include "report/text.h"
#include "signature.h"
#include "symbolicate/symbolicator.h"

namespace cairn::server {
namespace {

constexpr int64_t kBatch = 16;
// After a failure of the database: tried again this much later.
constexpr std::chrono::seconds kPause(1);

// By build-id alone: an image without a path is looked for nowhere else.
void AddNames(const DecodeOptions& options, report::Report* report) {
  std::vector<std::string> paths;
  for (report::Image& image : report->images) {
    paths.push_back(std::move(image.path));
    image.path.clear();
  }
  symbolicate::Options by_id;
  by_id.debug_directories = options.debug_directories;
  symbolicate::Symbolicator(by_id).Symbolicate(report);
  for (size_t i = 0; i < paths.size(); ++i) {
    report->images[i].path = std::move(paths[i]);
  }
}

}  // namespace

std::optional<report::Report> DecodeReport(std::string_view bytes,
                                           const DecodeOptions& options,
                                           std::string* why) {
  report::ReadResult result = report::ReadReport(
      reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (result.status == report::ReadStatus::kWhole ||
      result.status == report::ReadStatus::kCut) {
    if (!result.report.has_symbols && !options.debug_directories.empty()) {
      AddNames(options, &result.report);
    }
    return std::move(result.report);
  }
  *why = result.error.empty() ? "no report could be read from these bytes"
                              : result.error;
  return std::nullopt;
}

Decoded Summarize(const report::Report& report) {
  Decoded decoded;
  decoded.title = report::Headline(report);
  decoded.signature = Signature(report);
  decoded.signature_version = kSignatureVersion;
  decoded.kind = report::Name(report.kind);
  if (report.time_ns) {
    decoded.time_ms = static_cast<int64_t>(*report.time_ns / 1'000'000);
  }
  decoded.app_id = report.app.id;
  decoded.app_version = report.app.version;
  decoded.app_build = report.app.build;
  decoded.environment = report.app.environment;
  decoded.process = report.process.name;
  decoded.os = report.host.os;
  decoded.complete = report.complete;
  return decoded;
}

std::optional<size_t> CulpritIndex(const report::Report& report) {
  const std::optional<report::Call> culprit = report::CulpritOf(report);
  if (!culprit) {
    return std::nullopt;
  }
  size_t index = 0;
  for (const report::Frame& frame : report::CrashedThread(report)->frames) {
    if (&frame == culprit->frame) {
      break;
    }
    index += std::max<size_t>(1, frame.symbols.size());
  }
  return index + culprit->symbol;
}

Decoder::Decoder(const ReportFiles* files, Store* store, DecodeOptions options)
    : files_(files),
      store_(store),
      options_(std::move(options)),
      wakes_(1),
      thread_([this] { Run(); }) {}

Decoder::~Decoder() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Decoder::Wake() {
  {
    std::lock_guard lock(mutex_);
    ++wakes_;
  }
  changed_.notify_all();
}

std::optional<ReportRow> Decoder::Await(const std::string& uuid,
                                        int64_t limit_ms) {
  auto limit =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
  for (;;) {
    std::unique_lock lock(mutex_);
    uint64_t done = done_;
    lock.unlock();
    auto row = store_->ReportOf(uuid);
    if (!row || row->state != ReportState::kWaiting) {
      return row;
    }
    lock.lock();
    if (!changed_.wait_until(
            lock, limit, [&] { return done_ != done || stop_; }) ||
        stop_) {
      return row;
    }
  }
}

void Decoder::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    uint64_t seen = wakes_;
    lock.unlock();
    bool more = false;
    bool failed = false;
    try {
      more = DecodeSome();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "cairn-server: decoding: %s\n", error.what());
      failed = true;
    }
    lock.lock();
    if (failed) {
      changed_.wait_for(lock, kPause, [&] { return stop_; });
    } else if (!more) {
      changed_.wait(lock, [&] { return stop_ || wakes_ != seen; });
    }
  }
}

bool Decoder::DecodeSome() {
  std::vector<std::string> waiting = store_->Waiting(kBatch);
  for (const std::string& uuid : waiting) {
    DecodeOne(uuid);
    std::lock_guard lock(mutex_);
    ++done_;
    changed_.notify_all();
    if (stop_) {
      break;
    }
  }
  return !waiting.empty();
}

void Decoder::DecodeOne(const std::string& uuid) {
  if (store_->BeginDecoding(uuid) > Store::kMaxAttempts) {
    store_->FinishUndecodable(
        uuid,
        "decoding was begun several times and never ended; the report "
        "is kept as it came");
    return;
  }
  auto parsed = report::ParseUuid(uuid);
  auto bytes = parsed ? files_->Read(*parsed) : std::nullopt;
  std::string why = "its bytes are missing or unreadable in the data directory";
  auto report = bytes ? DecodeReport(*bytes, options_, &why) : std::nullopt;
  if (report) {
    store_->FinishDecoded(uuid, Summarize(*report));
  } else {
    store_->FinishUndecodable(uuid, why);
  }
}

}  // namespace cairn::server
