// SPDX-License-Identifier: Apache-2.0
//
// A process whose program headers, dynamic section, link map and libraries are
// hostile: the input is its whole memory, from kBase on. Asks for memory safety
// and a bounded number of reads; the table must be consistent afterwards.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "capture/image_table.h"

namespace {

using namespace cairn;

constexpr uint64_t kBase = 0x10000;
constexpr uint32_t kImages = 16;
constexpr size_t kMostReads = 20u << 20;

struct Memory {
  const uint8_t* bytes;
  size_t count;
  size_t reads;
};

size_t ReadSome(void* context, uint64_t address, void* out, size_t bytes) {
  auto* memory = static_cast<Memory*>(context);
  if (++memory->reads > kMostReads) {
    std::abort();
  }
  const uint64_t offset = address - kBase;
  if (offset >= memory->count) {
    return 0;
  }
  const size_t left = memory->count - offset;
  const size_t count = bytes < left ? bytes : left;
  std::memcpy(out, memory->bytes + offset, count);
  return count;
}

void CheckTable(const capture::ImageTable& table) {
  for (uint32_t i = 0; i < table.count(); ++i) {
    const capture::Image& image = table.at(i);
    if (image.segment_count > capture::kMaxImageSegments ||
        image.id_bytes > capture::kMaxImageIdBytes ||
        image.path_bytes > capture::kMaxImagePathBytes) {
      std::abort();
    }
    for (uint32_t s = 0; s < image.segment_count; ++s) {
      table.Find(image.segments[s].address);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 64) {
    return 0;
  }
  static const auto table = std::make_unique<capture::ImageTable>();
  static capture::Image storage[kImages];
  std::memset(static_cast<void*>(storage), 0, sizeof(storage));
  new (table.get()) capture::ImageTable;
  table->Init(storage, kImages);
  Memory memory = {data, size, 0};
  const capture::ProcessVectors vectors = {kBase + 64,
                                           data[0],
                                           (data[1] & 1) != 0 ? 32u : 56u,
                                           kBase + data[2] * 16u,
                                           kBase + data[3] * 16u,
                                           "/bin/fuzzed"};
  for (int i = 0; i < 2; ++i) {
    RefreshImages(table.get(), vectors, {&ReadSome, &memory});
    CheckTable(*table);
  }
  return 0;
}
