// SPDX-License-Identifier: Apache-2.0
//
// Files of several architectures (mach-o/fat.h): a big-endian table of slices,
// each a Mach-O file of its own.
#include <utility>

#include "format/macho_format.h"
#include "symbolicate/macho_file.h"

namespace cairn::symbolicate {
namespace {

namespace macho = format::macho;

// A Java class file has the same first bytes, then its version, 45 or more.
constexpr uint32_t kMaxSlices = 44;

uint32_t BigEndian32(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 |
         at[3];
}
uint64_t BigEndian64(const uint8_t* at) {
  return uint64_t{BigEndian32(at)} << 32 | BigEndian32(at + 4);
}

// A window of another source.
class Slice : public ByteSource {
 public:
  Slice(std::shared_ptr<const ByteSource> whole, uint64_t offset, uint64_t size)
      : whole_(std::move(whole)), offset_(offset), size_(size) {}
  uint64_t size() const override { return size_; }
  bool Read(uint64_t offset, void* to, size_t bytes) const override {
    return offset <= size_ && bytes <= size_ - offset &&
           whole_->Read(offset_ + offset, to, bytes);
  }

 private:
  std::shared_ptr<const ByteSource> whole_;
  uint64_t offset_, size_;
};

bool IsFat(uint32_t big_endian_magic) {
  return big_endian_magic == macho::kFatMagic32 ||
         big_endian_magic == macho::kFatMagic64;
}

}  // namespace

bool IsMachO(const ByteSource& source) {
  uint8_t raw[8] = {};
  if (!source.Read(0, raw, sizeof(raw))) {
    return false;
  }
  const uint32_t magic = BigEndian32(raw);
  if (IsFat(magic)) {
    return BigEndian32(raw + 4) <= kMaxSlices;
  }
  return magic == macho::kMagic32 || magic == macho::kMagic64 ||
         magic == macho::kSwappedMagic32 || magic == macho::kSwappedMagic64;
}

std::vector<std::shared_ptr<const MachOFile>> ParseMachOSlices(
    const std::shared_ptr<const ByteSource>& source,
    std::string* error) {
  std::vector<std::shared_ptr<const MachOFile>> slices;
  uint8_t head[8] = {};
  *error = "not a Mach-O file";
  if (!source->Read(0, head, sizeof(head))) {
    return slices;
  }
  if (!IsFat(BigEndian32(head))) {
    if (auto file = MachOFile::Parse(source, error)) {
      slices.push_back(std::move(file));
    }
    return slices;
  }
  const bool wide = BigEndian32(head) == macho::kFatMagic64;
  const uint32_t count = BigEndian32(head + 4);
  const size_t entry_bytes = wide ? 32 : 20;
  if (count == 0 || count > kMaxSlices) {
    return slices;
  }
  *error = "damaged table of architectures";
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t entry[32] = {};
    if (!source->Read(sizeof(head) + i * entry_bytes, entry, entry_bytes)) {
      break;
    }
    const uint64_t offset =
        wide ? BigEndian64(entry + 8) : BigEndian32(entry + 8);
    const uint64_t bytes =
        wide ? BigEndian64(entry + 16) : BigEndian32(entry + 12);
    if (offset > source->size() || bytes > source->size() - offset) {
      continue;
    }
    auto file =
        MachOFile::Parse(std::make_shared<Slice>(source, offset, bytes), error);
    // The table and the slice must agree on what it is.
    if (file && file->cpu_type() == BigEndian32(entry)) {
      slices.push_back(std::move(file));
    }
  }
  return slices;
}

}  // namespace cairn::symbolicate
