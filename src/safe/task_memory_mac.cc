// SPDX-License-Identifier: Apache-2.0
#include "safe/task_memory_mac.h"

#include "safe/mach_calls_mac.h"

namespace cairn::safe {
namespace {

bool ReadWhole(uint64_t address, void* out, size_t bytes) {
  mach_vm_size_t got = 0;
  return mach_vm_read_overwrite(mach_task_self_,
                                address,
                                bytes,
                                reinterpret_cast<mach_vm_address_t>(out),
                                &got) == KERN_SUCCESS &&
         got == bytes;
}

// The call copies all or nothing, so what it refuses is asked for page by page.
size_t ReadTask(void* /*context*/, uint64_t address, void* out, size_t bytes) {
  if (bytes == 0 || ReadWhole(address, out, bytes)) {
    return bytes;
  }
  const uint64_t page_bytes = vm_page_size;
  size_t done = 0;
  while (done < bytes) {
    const uint64_t to_page_end =
        page_bytes - ((address + done) & (page_bytes - 1));
    const size_t part = to_page_end < bytes - done
                            ? static_cast<size_t>(to_page_end)
                            : bytes - done;
    if (part == bytes ||
        !ReadWhole(address + done, static_cast<uint8_t*>(out) + done, part)) {
      break;
    }
    done += part;
  }
  return done;
}

}  // namespace

MemoryReader OwnTaskReader() {
  return {&ReadTask, nullptr};
}

}  // namespace cairn::safe
