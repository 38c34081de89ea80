// SPDX-License-Identifier: Apache-2.0
//
// The one way to read memory that may not be there.
//
// Crash time: yes. Unwinders and image readers take a MemoryReader and never
// dereference an address of the target, so the same code reads the own process,
// a stopped process, a stack copy, and a byte array in a unit test.
#ifndef CAIRN_SAFE_MEMORY_READER_H_
#define CAIRN_SAFE_MEMORY_READER_H_

#include <cstddef>
#include <cstdint>

namespace cairn::safe {

// A function and its context, by value. The context must outlive the reader.
struct MemoryReader {
  // Copies up to `bytes` from `address` into `out`; returns how many of the
  // first bytes were read. A short count means that the next byte is
  // unreadable.
  size_t (*read_some)(void* context, uint64_t address, void* out, size_t bytes);
  void* context;

  // True when all `bytes` were read. On false `out` is unspecified.
  bool Read(uint64_t address, void* out, size_t bytes) const {
    if (address + bytes < address) {
      return false;
    }
    return read_some(context, address, out, bytes) == bytes;
  }
  size_t ReadSome(uint64_t address, void* out, size_t bytes) const {
    if (address + bytes < address) {
      bytes = static_cast<size_t>(0 - address);
    }
    return read_some(context, address, out, bytes);
  }
  template <typename T>
  bool ReadValue(uint64_t address, T* out) const {
    return Read(address, out, sizeof(T));
  }
};

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_MEMORY_READER_H_
