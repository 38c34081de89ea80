// SPDX-License-Identifier: Apache-2.0
#include "safe/process_memory_linux.h"

#include "safe/syscall_linux.h"

namespace cairn::safe {
namespace {

struct IoVector {
  void* base;
  size_t bytes;
};

constexpr uint64_t kPageBytes = 4096;

// The call fails as a whole when the first element faults, and transfers whole
// elements otherwise, so a read that crosses pages is cut at page ends.
size_t ReadProcess(void* context, uint64_t address, void* out, size_t bytes) {
  const long pid = *static_cast<int32_t*>(context);
  size_t done = 0;
  while (done < bytes) {
    IoVector local{static_cast<uint8_t*>(out) + done, bytes - done};
    IoVector remote{reinterpret_cast<void*>(address + done), bytes - done};
    long got = SystemCall(
        SYS_process_vm_readv, pid, AsLong(&local), 1, AsLong(&remote), 1, 0);
    if (got <= 0) {
      const uint64_t to_page_end =
          kPageBytes - ((address + done) & (kPageBytes - 1));
      if (to_page_end >= bytes - done) {
        break;
      }
      local.bytes = remote.bytes = static_cast<size_t>(to_page_end);
      got = SystemCall(
          SYS_process_vm_readv, pid, AsLong(&local), 1, AsLong(&remote), 1, 0);
      if (got <= 0) {
        break;
      }
    }
    done += static_cast<size_t>(got);
  }
  return done;
}

}  // namespace

MemoryReader ProcessReader(int32_t* pid) {
  return {&ReadProcess, pid};
}

}  // namespace cairn::safe
