// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/loaded_macho.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace cairn::symbolicate {
namespace {

// The bytes from the header on, for as long as only the commands are asked for.
class HeaderSource : public ByteSource {
 public:
  HeaderSource(const safe::MemoryReader& memory, uint64_t header)
      : memory_(memory), header_(header) {}
  uint64_t size() const override { return UINT64_MAX - header_; }
  bool Read(uint64_t offset, void* to, size_t bytes) const override {
    return offset <= size() && bytes <= size() - offset &&
           memory_.Read(header_ + offset, to, bytes);
  }

 private:
  safe::MemoryReader memory_;
  uint64_t header_;
};

class LoadedSource : public ByteSource {
 public:
  LoadedSource(const safe::MemoryReader& memory,
               uint64_t header,
               const MachOFile& image)
      : memory_(memory), at_header_(memory, header) {
    const uint64_t slide = header - image.base_address();
    for (const MachOSegment& segment : image.segments()) {
      const uint64_t bytes = std::min(segment.file_bytes, segment.bytes);
      if (!segment.IsReserve() && segment.offset + bytes >= segment.offset) {
        parts_.push_back({segment.offset, bytes, segment.address + slide});
        size_ = std::max(size_, segment.offset + bytes);
      }
    }
  }
  uint64_t size() const override { return size_; }
  bool Read(uint64_t offset, void* to, size_t bytes) const override {
    if (!parsed_) {
      return at_header_.Read(offset, to, bytes);
    }
    for (const Part& part : parts_) {
      if (offset >= part.offset && offset - part.offset <= part.bytes &&
          bytes <= part.bytes - (offset - part.offset)) {
        return memory_.Read(part.address + (offset - part.offset), to, bytes);
      }
    }
    return false;
  }
  // From now on offsets are those of the file, no longer from the header:
  // the two differ in the shared cache.
  void SetParsed() { parsed_ = true; }

 private:
  struct Part {
    uint64_t offset, bytes, address;
  };
  safe::MemoryReader memory_;
  HeaderSource at_header_;
  std::vector<Part> parts_;
  uint64_t size_ = 0;
  bool parsed_ = false;
};

}  // namespace

std::shared_ptr<const MachOFile> ParseLoadedMachO(
    const safe::MemoryReader& memory,
    uint64_t header,
    std::string* error) {
  const auto layout =
      MachOFile::Parse(std::make_shared<HeaderSource>(memory, header), error);
  if (!layout) {
    return nullptr;
  }
  auto source = std::make_shared<LoadedSource>(memory, header, *layout);
  auto file = MachOFile::Parse(source, error);
  source->SetParsed();
  return file;
}

}  // namespace cairn::symbolicate
