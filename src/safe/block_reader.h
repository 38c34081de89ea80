// SPDX-License-Identifier: Apache-2.0
//
// A reader that asks another one for whole blocks and keeps a few of them: many
// small reads side by side become one system call.
//
// Crash time: yes. One thread at a time. What it has read it does not read
// again, so it serves one walk through memory that stands still meanwhile.
#ifndef CAIRN_SAFE_BLOCK_READER_H_
#define CAIRN_SAFE_BLOCK_READER_H_

#include "safe/bytes.h"
#include "safe/memory_reader.h"

namespace cairn::safe {

class BlockReader {
 public:
  // A block never crosses a page, so it is readable whole or not at all.
  static constexpr size_t kBlockBytes = 512;
  static constexpr size_t kBlocks = 4;

  explicit BlockReader(MemoryReader under) : under_(under) {}

  // Valid as long as this object stands where it is.
  MemoryReader reader() { return {&ReadSome, this}; }

 private:
  struct Block {
    uint64_t address = 0;
    bool filled = false;
    uint8_t bytes[kBlockBytes];
  };

  static size_t ReadSome(void* context,
                         uint64_t address,
                         void* out,
                         size_t bytes) {
    return static_cast<BlockReader*>(context)->Read(
        address, static_cast<uint8_t*>(out), bytes);
  }

  size_t Read(uint64_t address, uint8_t* out, size_t bytes) {
    size_t done = 0;
    while (done < bytes) {
      const uint64_t at = address + done;
      const Block* block = BlockOf(at & ~uint64_t{kBlockBytes - 1});
      if (block == nullptr) {
        break;
      }
      const size_t offset = at & (kBlockBytes - 1);
      const size_t room = kBlockBytes - offset;
      const size_t count = room < bytes - done ? room : bytes - done;
      Copy(out + done, block->bytes + offset, count);
      done += count;
    }
    return done;
  }

  const Block* BlockOf(uint64_t address) {
    for (const Block& block : blocks_) {
      if (block.filled && block.address == address) {
        return &block;
      }
    }
    Block* block = &blocks_[next_];
    next_ = (next_ + 1) % kBlocks;
    block->address = address;
    block->filled = under_.Read(address, block->bytes, kBlockBytes);
    return block->filled ? block : nullptr;
  }

  MemoryReader under_;
  size_t next_ = 0;
  Block blocks_[kBlocks];
};

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_BLOCK_READER_H_
