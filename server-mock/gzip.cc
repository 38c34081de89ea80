// SPDX-License-Identifier: Apache-2.0
#include "gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

namespace cairn::server {
namespace {

constexpr size_t kChunkBytes = 64 << 10;
// zlib: 15 window bits, plus 16 for "gzip wrapper only".
constexpr int kGzipWindowBits = 15 + 16;

class Stream {
 public:
  explicit Stream(std::string_view body) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
    stream_.avail_in = static_cast<uInt>(body.size());
    ready_ = inflateInit2(&stream_, kGzipWindowBits) == Z_OK;
  }
  ~Stream() {
    if (ready_) {
      inflateEnd(&stream_);
    }
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool ready() const { return ready_; }
  size_t left() const { return stream_.avail_in; }
  // One step into `chunk`; returns zlib's code, `*produced` bytes came out.
  int Step(char* chunk, size_t size, size_t* produced) {
    stream_.next_out = reinterpret_cast<Bytef*>(chunk);
    stream_.avail_out = static_cast<uInt>(size);
    int code = inflate(&stream_, Z_NO_FLUSH);
    *produced = size - stream_.avail_out;
    return code;
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

InflateStatus Run(Stream* stream, size_t max_bytes, std::string* out) {
  std::array<char, kChunkBytes> chunk;
  for (;;) {
    size_t produced = 0;
    int code = stream->Step(chunk.data(), chunk.size(), &produced);
    if (produced > max_bytes - out->size()) {
      return InflateStatus::kTooLarge;
    }
    out->append(chunk.data(), produced);
    if (code == Z_STREAM_END) {
      return stream->left() == 0 ? InflateStatus::kOk : InflateStatus::kBroken;
    }
    if (code == Z_MEM_ERROR) {
      return InflateStatus::kNoMemory;
    }
    if (code == Z_BUF_ERROR ||
        (code == Z_OK && produced == 0 && stream->left() == 0)) {
      return InflateStatus::kTruncated;
    }
    if (code != Z_OK) {
      return InflateStatus::kBroken;
    }
  }
}

}  // namespace

InflateStatus Inflate(std::string_view body,
                      size_t max_bytes,
                      std::string* out) {
  out->clear();
  if (body.size() > std::numeric_limits<uInt>::max()) {
    return InflateStatus::kTooLarge;
  }
  Stream stream(body);
  InflateStatus status =
      stream.ready() ? Run(&stream, max_bytes, out) : InflateStatus::kNoMemory;
  if (status != InflateStatus::kOk) {
    std::string().swap(*out);
  }
  return status;
}

}  // namespace cairn::server
