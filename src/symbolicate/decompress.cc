// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/decompress.h"

#include <algorithm>

#include "symbolicate/shared_library.h"

// The three libraries are called by their stable binary interfaces, so that no
// header and no package of theirs is needed to build.
namespace cairn::symbolicate {
namespace {

constexpr uint64_t kXzMemoryBytes = 256u << 20;
constexpr int kXzOk = 0, kXzBufferFull = 10;
// No format here packs better than about 1 to 1100; what claims more is made
// to exhaust memory.
constexpr size_t kMaxRatio = 1u << 17;

using Uncompress = int (*)(uint8_t*,
                           unsigned long*,
                           const uint8_t*,
                           unsigned long);
using ZstdDecompress = size_t (*)(void*, size_t, const void*, size_t);
using XzDecode = int (*)(uint64_t* memory_limit,
                         uint32_t flags,
                         const void* allocator,
                         const uint8_t* in,
                         size_t* in_at,
                         size_t in_bytes,
                         uint8_t* out,
                         size_t* out_at,
                         size_t out_bytes);

template <typename Function>
Function Load(std::initializer_list<const char*> names, const char* symbol) {
  const SharedLibrary library(names);
  Function function = nullptr;
  library.Find(symbol, &function);
  return function;
}

bool IsPlausible(size_t data_bytes, size_t bytes) {
  return data_bytes != 0 && bytes / kMaxRatio <= data_bytes;
}

}  // namespace

std::optional<std::vector<uint8_t>> InflateZlib(const uint8_t* data,
                                                size_t data_bytes,
                                                size_t bytes) {
  static const auto kUncompress =
      Load<Uncompress>({"libz.so.1", "libz.so", "libz.1.dylib"}, "uncompress");
  if (kUncompress == nullptr || !IsPlausible(data_bytes, bytes)) {
    return std::nullopt;
  }
  std::vector<uint8_t> out(bytes);
  unsigned long length = bytes;
  if (kUncompress(out.data(), &length, data, data_bytes) != 0 ||
      length != bytes) {
    return std::nullopt;
  }
  return out;
}

std::optional<std::vector<uint8_t>> InflateZstd(const uint8_t* data,
                                                size_t data_bytes,
                                                size_t bytes) {
  static const auto kDecompress = Load<ZstdDecompress>(
      {"libzstd.so.1", "libzstd.so", "libzstd.1.dylib"}, "ZSTD_decompress");
  if (kDecompress == nullptr || !IsPlausible(data_bytes, bytes)) {
    return std::nullopt;
  }
  std::vector<uint8_t> out(bytes);
  if (kDecompress(out.data(), bytes, data, data_bytes) != bytes) {
    return std::nullopt;
  }
  return out;
}

std::optional<std::vector<uint8_t>> InflateXz(const uint8_t* data,
                                              size_t data_bytes,
                                              size_t limit) {
  static const auto kDecode =
      Load<XzDecode>({"liblzma.so.5", "liblzma.so", "liblzma.5.dylib"},
                     "lzma_stream_buffer_decode");
  if (kDecode == nullptr) {
    return std::nullopt;
  }
  for (size_t room = std::min(limit, std::max<size_t>(data_bytes * 8, 4096));;
       room = std::min(limit, room * 2)) {
    std::vector<uint8_t> out(room);
    uint64_t memory = kXzMemoryBytes;
    size_t in_at = 0, out_at = 0;
    const int status = kDecode(&memory,
                               0,
                               nullptr,
                               data,
                               &in_at,
                               data_bytes,
                               out.data(),
                               &out_at,
                               room);
    if (status == kXzOk) {
      out.resize(out_at);
      return out;
    }
    if (status != kXzBufferFull || room == limit) {
      return std::nullopt;
    }
  }
}

}  // namespace cairn::symbolicate
