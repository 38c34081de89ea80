// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dwarf_section.h"

#include <algorithm>
#include <cstring>

namespace cairn::symbolicate {
namespace {

constexpr size_t kMaxTextBytes = 16u << 10;

}  // namespace

const std::vector<uint8_t>* DwarfSection::BlockAt(uint64_t number) const {
  Block& block = blocks_[number % kBlocks];
  if (block.number != number) {
    const uint64_t start = number * kBlockBytes;
    block.number = UINT64_MAX;
    block.bytes.resize(static_cast<size_t>(
        std::min<uint64_t>(kBlockBytes, source_->size() - start)));
    if (!source_->Read(start, block.bytes.data(), block.bytes.size())) {
      return nullptr;
    }
    block.number = number;
  }
  return &block.bytes;
}

bool DwarfSection::Read(uint64_t offset, void* to, size_t bytes) const {
  if (offset > size() || bytes > size() - offset) {
    return false;
  }
  auto* out = static_cast<uint8_t*>(to);
  while (bytes != 0) {
    const std::vector<uint8_t>* block = BlockAt(offset / kBlockBytes);
    if (block == nullptr) {
      return false;
    }
    const auto from = static_cast<size_t>(offset % kBlockBytes);
    const size_t here = std::min(bytes, block->size() - from);
    std::memcpy(out, block->data() + from, here);
    out += here;
    offset += here;
    bytes -= here;
  }
  return true;
}

std::vector<uint8_t> DwarfSection::Part(uint64_t offset, uint64_t bytes) const {
  std::vector<uint8_t> part;
  if (offset < size()) {
    part.resize(static_cast<size_t>(std::min(bytes, size() - offset)));
    if (!ReadOnce(offset, part.data(), part.size())) {
      part.clear();
    }
  }
  return part;
}

std::optional<uint64_t> DwarfSection::Unsigned(uint64_t offset,
                                               int bytes) const {
  uint8_t raw[8] = {};
  if (!Read(offset, raw, static_cast<size_t>(bytes))) {
    return std::nullopt;
  }
  uint64_t value = 0;
  for (int i = bytes; i-- > 0;) {
    value = value << 8 | raw[i];
  }
  return value;
}

std::string DwarfSection::Text(uint64_t offset) const {
  std::string text;
  while (offset < size() && text.size() < kMaxTextBytes) {
    const std::vector<uint8_t>* block = BlockAt(offset / kBlockBytes);
    if (block == nullptr) {
      break;
    }
    const auto from = static_cast<size_t>(offset % kBlockBytes);
    const auto* start = reinterpret_cast<const char*>(block->data()) + from;
    const size_t length = strnlen(start, block->size() - from);
    text.append(start, std::min(length, kMaxTextBytes - text.size()));
    if (length < block->size() - from) {
      break;
    }
    offset += length;
  }
  return text;
}

}  // namespace cairn::symbolicate
