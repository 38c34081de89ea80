// SPDX-License-Identifier: Apache-2.0
#include "safe/bytes.h"

// Compiled with -fno-builtin and without loop-to-call transformations, so that
// a function does not become a call of itself. Eight bytes at a time where both
// sides allow it; unaligned loads go through the compiler's own attribute.
namespace {
struct __attribute__((packed, may_alias)) Word {
  uint64_t value;
};
}  // namespace

extern "C" {

void* cairn_safe_memcpy(void* to, const void* from, size_t bytes) {
  auto* out = static_cast<uint8_t*>(to);
  const auto* in = static_cast<const uint8_t*>(from);
  for (; bytes >= sizeof(Word); bytes -= sizeof(Word)) {
    reinterpret_cast<Word*>(out)->value =
        reinterpret_cast<const Word*>(in)->value;
    out += sizeof(Word);
    in += sizeof(Word);
  }
  for (; bytes > 0; --bytes) {
    *out++ = *in++;
  }
  return to;
}

void* cairn_safe_memmove(void* to, const void* from, size_t bytes) {
  auto* out = static_cast<uint8_t*>(to);
  const auto* in = static_cast<const uint8_t*>(from);
  if (out <= in || out >= in + bytes) {
    return cairn_safe_memcpy(to, from, bytes);
  }
  while (bytes > 0) {
    --bytes;
    out[bytes] = in[bytes];
  }
  return to;
}

void* cairn_safe_memset(void* to, int value, size_t bytes) {
  auto* out = static_cast<uint8_t*>(to);
  const uint64_t word = 0x0101010101010101u * static_cast<uint8_t>(value);
  for (; bytes >= sizeof(Word); bytes -= sizeof(Word)) {
    reinterpret_cast<Word*>(out)->value = word;
    out += sizeof(Word);
  }
  for (; bytes > 0; --bytes) {
    *out++ = static_cast<uint8_t>(value);
  }
  return to;
}

// Clang's choice for zeros where Apple's library is the target.
void cairn_safe_bzero(void* to, size_t bytes) {
  cairn_safe_memset(to, 0, bytes);
}

int cairn_safe_memcmp(const void* left, const void* right, size_t bytes) {
  const auto* a = static_cast<const uint8_t*>(left);
  const auto* b = static_cast<const uint8_t*>(right);
  for (size_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) {
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

}  // extern "C"
