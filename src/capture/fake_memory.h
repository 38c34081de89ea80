// SPDX-License-Identifier: Apache-2.0
//
// Memory made by a test: pieces of bytes at chosen addresses, everything else
// unreadable. Counts the reads. For tests only.
#ifndef CAIRN_CAPTURE_FAKE_MEMORY_H_
#define CAIRN_CAPTURE_FAKE_MEMORY_H_

#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "safe/memory_reader.h"

namespace cairn::capture {

class FakeMemory {
 public:
  // Later pieces must not overlap earlier ones.
  void Put(uint64_t address, std::vector<uint8_t> bytes) {
    pieces_[address] = std::move(bytes);
  }
  void PutText(uint64_t address, std::string_view text) {
    std::vector<uint8_t> bytes(text.begin(), text.end());
    bytes.push_back(0);
    Put(address, std::move(bytes));
  }
  template <typename T>
  void PutValue(uint64_t address, const T& value) {
    std::vector<uint8_t> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    Put(address, std::move(bytes));
  }
  void Remove(uint64_t address) { pieces_.erase(address); }

  safe::MemoryReader reader() { return {&ReadSome, this}; }
  size_t reads() const { return reads_; }
  void ResetReads() { reads_ = 0; }

 private:
  static size_t ReadSome(void* context,
                         uint64_t address,
                         void* out,
                         size_t bytes) {
    auto* self = static_cast<FakeMemory*>(context);
    ++self->reads_;
    size_t done = 0;
    while (done < bytes) {
      const uint64_t at = address + done;
      auto next = self->pieces_.upper_bound(at);
      if (next == self->pieces_.begin()) {
        break;
      }
      const auto& [start, piece] = *--next;
      if (at - start >= piece.size()) {
        break;
      }
      const size_t offset = at - start;
      const size_t count = std::min(bytes - done, piece.size() - offset);
      std::memcpy(
          static_cast<uint8_t*>(out) + done, piece.data() + offset, count);
      done += count;
    }
    return done;
  }

  std::map<uint64_t, std::vector<uint8_t>> pieces_;
  size_t reads_ = 0;
};

// The own process's memory, read by the kernel: an unreadable byte is a short
// count, never a fault.
inline safe::MemoryReader OwnMemory() {
  return {[](void*, uint64_t address, void* out, size_t bytes) {
            size_t done = 0;
            while (done < bytes) {
              const uint64_t at = address + done;
              const size_t page = 4096 - at % 4096;
              const size_t count = std::min(bytes - done, page);
              iovec local = {static_cast<uint8_t*>(out) + done, count};
              iovec remote = {reinterpret_cast<void*>(at), count};
              if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) !=
                  static_cast<ssize_t>(count)) {
                break;
              }
              done += count;
            }
            return done;
          },
          nullptr};
}

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_FAKE_MEMORY_H_
