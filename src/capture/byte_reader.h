// SPDX-License-Identifier: Apache-2.0
//
// Reads integers one behind the other from memory that may not be there, in
// pieces of 128 bytes, since each read may be a system call.
//
// Crash time: yes. Not shared. After the first failure every value is 0 and
// ok() is false: a parser may read on and ask once.
#ifndef CAIRN_CAPTURE_BYTE_READER_H_
#define CAIRN_CAPTURE_BYTE_READER_H_

#include <cstddef>
#include <cstdint>

#include "safe/memory_reader.h"

namespace cairn::capture {

class ByteReader {
 public:
  // Reads [address, end) and never beyond it.
  ByteReader(const safe::MemoryReader& memory, uint64_t address, uint64_t end)
      : memory_(memory), address_(address), end_(end) {}

  bool ok() const { return ok_; }
  uint64_t address() const { return address_; }
  bool AtEnd() const { return !ok_ || address_ >= end_; }
  void Fail() { ok_ = false; }

  // Moves within the same bounds; beyond `end` it fails.
  void Skip(uint64_t bytes);
  // New bounds; what is buffered stays of use.
  void MoveTo(uint64_t address, uint64_t end);
  // The same, and forgets a failure.
  void Restart(uint64_t address, uint64_t end) {
    MoveTo(address, end);
    ok_ = true;
  }

  // `bytes` is 1, 2, 4 or 8; anything else fails.
  uint64_t Unsigned(size_t bytes);
  int64_t Signed(size_t bytes);
  uint8_t U8() { return static_cast<uint8_t>(Unsigned(1)); }
  uint32_t U32() { return static_cast<uint32_t>(Unsigned(4)); }
  // DWARF 5 section 7.6. Bits beyond 64 are dropped; 16 bytes at most.
  uint64_t Uleb();
  int64_t Sleb();

 private:
  bool Take(void* out, size_t bytes);
  bool Fill();

  const safe::MemoryReader& memory_;
  uint64_t address_;
  uint64_t end_;
  bool ok_ = true;
  uint64_t buffered_at_ = 0;
  size_t buffered_ = 0;
  uint8_t buffer_[128];
};

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_BYTE_READER_H_
