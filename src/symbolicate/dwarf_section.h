// SPDX-License-Identifier: Apache-2.0
//
// Small reads anywhere in a section, from a few blocks that are kept.
//
// Ordinary code, one thread. Memory: at most 1 MiB a section.
#ifndef CAIRN_SYMBOLICATE_DWARF_SECTION_H_
#define CAIRN_SYMBOLICATE_DWARF_SECTION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolicate/byte_source.h"

namespace cairn::symbolicate {

class DwarfSection {
 public:
  // Null stands for an empty section.
  explicit DwarfSection(std::shared_ptr<const ByteSource> source)
      : source_(std::move(source)) {}

  uint64_t size() const { return source_ ? source_->size() : 0; }
  // False when any of it is not there. `Read` goes through the blocks,
  // `ReadOnce` does not: for what is not asked for twice.
  bool Read(uint64_t offset, void* to, size_t bytes) const;
  bool ReadOnce(uint64_t offset, void* to, size_t bytes) const {
    return source_ && source_->Read(offset, to, bytes);
  }
  // What is there of [offset, offset + bytes).
  std::vector<uint8_t> Part(uint64_t offset, uint64_t bytes) const;
  // Little-endian, 1 to 8 bytes.
  std::optional<uint64_t> Unsigned(uint64_t offset, int bytes) const;
  // The string at `offset`, at most 16 KiB of it; "" when there is none.
  std::string Text(uint64_t offset) const;

 private:
  static constexpr size_t kBlockBytes = 16u << 10;
  static constexpr size_t kBlocks = 64;
  struct Block {
    uint64_t number = UINT64_MAX;
    std::vector<uint8_t> bytes;
  };
  const std::vector<uint8_t>* BlockAt(uint64_t number) const;

  std::shared_ptr<const ByteSource> source_;
  mutable std::array<Block, kBlocks> blocks_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DWARF_SECTION_H_
