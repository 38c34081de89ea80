// SPDX-License-Identifier: Apache-2.0
#include "thread_variables.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>

#include "macho_file.h"
#include "shim_table.h"

// rdi: the descriptor. Everything but rax and rdi is kept, as the compiler
// expects.
asm(R"(
.text
.globl mach_host_tlv_thunk
.type mach_host_tlv_thunk, @function
mach_host_tlv_thunk:
  push %rbp
  mov %rsp, %rbp
  and $-16, %rsp
  sub $592, %rsp
  fxsave (%rsp)
  mov %rsi, 512(%rsp)
  mov %rdx, 520(%rsp)
  mov %rcx, 528(%rsp)
  mov %r8, 536(%rsp)
  mov %r9, 544(%rsp)
  mov %r10, 552(%rsp)
  mov %r11, 560(%rsp)
  call mach_host_tlv_address
  mov 512(%rsp), %rsi
  mov 520(%rsp), %rdx
  mov 528(%rsp), %rcx
  mov 536(%rsp), %r8
  mov 544(%rsp), %r9
  mov 552(%rsp), %r10
  mov 560(%rsp), %r11
  fxrstor (%rsp)
  mov %rbp, %rsp
  pop %rbp
  ret
)");
extern "C" void mach_host_tlv_thunk();

namespace mach_host {
namespace {

struct Template {
  const std::uint8_t* start = nullptr;
  std::size_t filled = 0, size = 0;
  pthread_key_t key = 0;
};
constexpr int kMaxImages = 64;
Template templates[kMaxImages];
int template_count = 0;

// Destructors of thread_local objects, run newest first when the thread ends.
struct Ending {
  void (*function)(void*);
  void* object;
  Ending* next;
};
thread_local Ending* endings = nullptr;

void RunEndings() {
  while (endings != nullptr) {
    Ending* ending = endings;
    endings = ending->next;
    ending->function(ending->object);
    delete ending;
  }
}

struct AtThreadEnd {
  bool used = false;
  ~AtThreadEnd() { RunEndings(); }
};
thread_local AtThreadEnd at_end;

void TlvAtExit(void (*function)(void*), void* object) {
  at_end.used = true;
  endings = new Ending{function, object, endings};
}

struct Descriptor {
  void (*thunk)();
  std::uint64_t key, offset;
};

}  // namespace

void PrepareThreadVariables(const Image& image) {
  std::uint64_t low = 0, high = 0, filled_end = 0;
  for (const Section& section : image.sections()) {
    const std::uint32_t kind = section.flags & 0xff;
    if (kind != 0x11 && kind != 0x12)
      continue;  // S_THREAD_LOCAL_REGULAR, ZEROFILL
    if (low == 0 || section.address < low)
      low = section.address;
    high = std::max(high, section.address + section.size);
    if (kind == 0x11)
      filled_end = std::max(filled_end, section.address + section.size);
  }
  for (const Section& section : image.sections()) {
    if ((section.flags & 0xff) != macho::kThreadLocalVariables)
      continue;
    if (template_count == kMaxImages)
      std::abort();
    Template& made = templates[template_count];
    made.start = reinterpret_cast<const std::uint8_t*>(low + image.slide());
    made.filled = filled_end > low ? filled_end - low : 0;
    made.size = high - low;
    pthread_key_create(&made.key, std::free);
    auto* descriptors =
        reinterpret_cast<Descriptor*>(section.address + image.slide());
    for (std::uint64_t i = 0; i < section.size / sizeof(Descriptor); ++i) {
      descriptors[i].thunk = mach_host_tlv_thunk;
      descriptors[i].key = static_cast<std::uint64_t>(template_count);
    }
    ++template_count;
  }
}

}  // namespace mach_host

extern "C" void* mach_host_tlv_address(const void* raw) {
  using mach_host::Descriptor;
  const auto* descriptor = static_cast<const Descriptor*>(raw);
  const mach_host::Template& made = mach_host::templates[descriptor->key];
  auto* block = static_cast<std::uint8_t*>(pthread_getspecific(made.key));
  if (block == nullptr) {
    block = static_cast<std::uint8_t*>(std::calloc(1, made.size + 64));
    std::memcpy(block, made.start, made.filled);
    pthread_setspecific(made.key, block);
  }
  return block + descriptor->offset;
}

namespace mach_host {
MACH_SHIM("__tlv_atexit", TlvAtExit);
MACH_SHIM("__tlv_bootstrap", mach_host_tlv_thunk);
}  // namespace mach_host
