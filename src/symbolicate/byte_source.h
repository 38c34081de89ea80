// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of an object file come from: a file, or memory.
//
// Ordinary code. Reads copy: nothing is mapped, so a file that another process
// truncates meanwhile makes a read fail and never raises SIGBUS in the host.
#ifndef CAIRN_SYMBOLICATE_BYTE_SOURCE_H_
#define CAIRN_SYMBOLICATE_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cairn::symbolicate {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Size when it was opened, bytes.
  virtual uint64_t size() const = 0;
  // Copies [offset, offset + bytes) to `to`. False, with `to` undefined, when
  // any of it is not there. Any thread.
  virtual bool Read(uint64_t offset, void* to, size_t bytes) const = 0;
};

// Takes the bytes over.
std::shared_ptr<const ByteSource> MemorySource(std::vector<uint8_t> bytes);

// [offset, offset + bytes) of another one; null when that does not lie in it.
std::shared_ptr<const ByteSource> PartOfSource(
    std::shared_ptr<const ByteSource> whole,
    uint64_t offset,
    uint64_t bytes);

enum class OpenError { kNone, kMissing, kUnreadable };

// Opens a regular file; symbolic links are followed, a FIFO or device is
// refused without waiting for it. Null on failure, with `error` telling why and
// `message` in words. The descriptor closes with the last reference.
std::shared_ptr<const ByteSource> OpenFileSource(const std::string& path,
                                                 OpenError* error,
                                                 std::string* message);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_BYTE_SOURCE_H_
