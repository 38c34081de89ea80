// SPDX-License-Identifier: Apache-2.0
#include "upload/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <climits>

#include "symbolicate/shared_library.h"

namespace cairn::upload {
namespace {

constexpr int kGzipWindowBits = 15 + 16;
constexpr int kMemoryLevel = 8;
constexpr size_t kChunkBytes = 64u << 10;

struct Zlib {
  decltype(&::deflateInit2_) init = nullptr;
  decltype(&::deflate) deflate = nullptr;
  decltype(&::deflateEnd) end = nullptr;
};

const Zlib* LoadZlib() {
  static const Zlib* const kLoaded = [] {
    static Zlib zlib;
    const symbolicate::SharedLibrary library(
        {"libz.so.1", "libz.so", "libz.1.dylib"});
    const bool whole = library.Find("deflateInit2_", &zlib.init) &&
                       library.Find("deflate", &zlib.deflate) &&
                       library.Find("deflateEnd", &zlib.end);
    return whole ? &zlib : nullptr;
  }();
  return kLoaded;
}

}  // namespace

std::optional<std::vector<uint8_t>> Gzip(const uint8_t* data, size_t bytes) {
  const Zlib* zlib = LoadZlib();
  z_stream stream{};
  if (zlib == nullptr || bytes > UINT_MAX ||
      zlib->init(&stream,
                 Z_DEFAULT_COMPRESSION,
                 Z_DEFLATED,
                 kGzipWindowBits,
                 kMemoryLevel,
                 Z_DEFAULT_STRATEGY,
                 ZLIB_VERSION,
                 static_cast<int>(sizeof(stream))) != Z_OK) {
    return std::nullopt;
  }
  std::vector<uint8_t> out;
  stream.next_in = const_cast<Bytef*>(data);  // zlib only reads it
  stream.avail_in = static_cast<uInt>(bytes);
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t used = out.size();
    out.resize(used + kChunkBytes);
    stream.next_out = out.data() + used;
    stream.avail_out = static_cast<uInt>(kChunkBytes);
    status = zlib->deflate(&stream, Z_FINISH);
    out.resize(out.size() - stream.avail_out);
  }
  zlib->end(&stream);
  return status == Z_STREAM_END ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace cairn::upload
