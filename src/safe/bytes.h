// SPDX-License-Identifier: Apache-2.0
//
// Bytes in our own memory: copy, fill, compare, measure.
//
// Crash time: yes. Any thread. The pointers must be valid; for memory that may
// not be there use safe/memory_reader.h.
#ifndef CAIRN_SAFE_BYTES_H_
#define CAIRN_SAFE_BYTES_H_

#include <cstddef>
#include <cstdint>

#define CAIRN_HIDDEN __attribute__((visibility("hidden")))

extern "C" {
CAIRN_HIDDEN void* cairn_safe_memcpy(void* to, const void* from, size_t bytes);
CAIRN_HIDDEN void* cairn_safe_memmove(void* to, const void* from, size_t bytes);
CAIRN_HIDDEN void* cairn_safe_memset(void* to, int value, size_t bytes);
CAIRN_HIDDEN void cairn_safe_bzero(void* to, size_t bytes);
CAIRN_HIDDEN int cairn_safe_memcmp(const void* left,
                                   const void* right,
                                   size_t bytes);
}

namespace cairn::safe {

inline void Copy(void* to, const void* from, size_t bytes) {
  cairn_safe_memcpy(to, from, bytes);
}
inline void Fill(void* to, uint8_t value, size_t bytes) {
  cairn_safe_memset(to, value, bytes);
}
inline bool Equal(const void* left, const void* right, size_t bytes) {
  return cairn_safe_memcmp(left, right, bytes) == 0;
}

// Length of a terminated string, at most `limit`.
inline size_t Length(const char* text, size_t limit) {
  size_t length = 0;
  while (length < limit && text[length] != '\0') {
    ++length;
  }
  return length;
}

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_BYTES_H_
