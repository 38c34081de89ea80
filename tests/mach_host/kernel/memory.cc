// SPDX-License-Identifier: Apache-2.0
//
// Memory of the task (xnu osfmk/vm/vm_user.c, vm_map.c).
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "../darwin.h"
#include "../loader.h"
#include "../shim_table.h"
#include "memory.h"
#include "ports.h"
#include "thread.h"

namespace mach_host {
namespace {

struct Mapping {
  std::uint64_t start = 0, end = 0;
  int protection = 0;
  std::uint64_t offset = 0;
  bool shared = false;
};

// The first mapping that ends after `address`.
bool FindMapping(std::uint64_t address, Mapping* found) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr)
    return false;
  char line[4352];
  bool good = false;
  while (!good && std::fgets(line, sizeof line, maps) != nullptr) {
    char bits[5] = {};
    unsigned long start, end, offset;
    if (std::sscanf(line, "%lx-%lx %4s %lx", &start, &end, bits, &offset) != 4)
      continue;
    if (end <= address)
      continue;
    found->start = start, found->end = end, found->offset = offset;
    found->protection = (bits[0] == 'r' ? 1 : 0) | (bits[1] == 'w' ? 2 : 0) |
                        (bits[2] == 'x' ? 4 : 0);
    found->shared = bits[3] == 's';
    good = true;
  }
  std::fclose(maps);
  return good;
}

int ReadOverwrite(std::uint32_t task,
                  std::uint64_t address,
                  std::uint64_t size,
                  std::uint64_t data,
                  std::uint64_t* out_size) {
  if (task != TaskPort())
    return darwin::kInvalidArgument;
  if (address + size < address)
    return darwin::kInvalidAddress;
  if (!CopyChecked(data, address, size))
    return darwin::kInvalidAddress;
  *out_size = size;
  return darwin::kSuccess;
}

int VmWrite(std::uint32_t,
            std::uint64_t address,
            std::uint64_t data,
            std::uint32_t count) {
  return CopyChecked(address, data, count) ? darwin::kSuccess
                                           : darwin::kInvalidAddress;
}

int VmRead(std::uint32_t task,
           std::uint64_t address,
           std::uint64_t size,
           std::uint64_t* data,
           std::uint32_t* count) {
  void* memory = mmap(nullptr,
                      size == 0 ? 1 : size,
                      PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS,
                      -1,
                      0);
  if (memory == MAP_FAILED)
    return darwin::kNoSpace;
  std::uint64_t got = 0;
  const int result = ReadOverwrite(
      task, address, size, reinterpret_cast<std::uint64_t>(memory), &got);
  if (result != darwin::kSuccess) {
    munmap(memory, size == 0 ? 1 : size);
    return result;
  }
  *data = reinterpret_cast<std::uint64_t>(memory);
  *count = static_cast<std::uint32_t>(size);
  return darwin::kSuccess;
}

int Region(std::uint32_t task,
           std::uint64_t* address,
           std::uint64_t* size,
           int flavor,
           void* info,
           std::uint32_t* count,
           std::uint32_t* object) {
  if (task != TaskPort() || flavor != darwin::kRegionBasicInfo64)
    return darwin::kInvalidArgument;
  Mapping mapping;
  if (!FindMapping(*address, &mapping))
    return darwin::kInvalidAddress;
  darwin::RegionBasicInfo64 basic = {};
  basic.protection = mapping.protection;
  basic.max_protection = 7;
  basic.shared = mapping.shared;
  basic.offset = mapping.offset;
  if (*count < sizeof basic / 4)
    return darwin::kInvalidArgument;
  std::memcpy(info, &basic, sizeof basic);
  *count = sizeof basic / 4;
  *address = mapping.start;
  *size = mapping.end - mapping.start;
  if (object != nullptr)
    *object = 0;
  return darwin::kSuccess;
}

int RegionRecurse(std::uint32_t task,
                  std::uint64_t* address,
                  std::uint64_t* size,
                  std::uint32_t* depth,
                  void* info,
                  std::uint32_t* count) {
  if (task != TaskPort())
    return darwin::kInvalidArgument;
  Mapping mapping;
  if (!FindMapping(*address, &mapping))
    return darwin::kInvalidAddress;
  darwin::RegionSubmapInfo64 full = {};
  full.protection = mapping.protection;
  full.max_protection = 7;
  full.offset = mapping.offset;
  full.pages_resident =
      static_cast<std::uint32_t>((mapping.end - mapping.start) / 4096);
  const std::uint32_t words = std::min<std::uint32_t>(*count, sizeof full / 4);
  std::memcpy(info, &full, words * 4u);
  *count = words;
  *address = mapping.start;
  *size = mapping.end - mapping.start;
  *depth = 0;
  return darwin::kSuccess;
}

int Allocate(std::uint32_t,
             std::uint64_t* address,
             std::uint64_t size,
             int flags) {
  const bool anywhere = (flags & 1) != 0;
  void* memory =
      mmap(anywhere ? nullptr : reinterpret_cast<void*>(*address),
           size,
           PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | (anywhere ? 0 : MAP_FIXED_NOREPLACE),
           -1,
           0);
  if (memory == MAP_FAILED)
    return darwin::kNoSpace;
  *address = reinterpret_cast<std::uint64_t>(memory);
  return darwin::kSuccess;
}

int Deallocate(std::uint32_t, std::uint64_t address, std::uint64_t size) {
  if (size == 0)
    return darwin::kSuccess;
  return munmap(reinterpret_cast<void*>(address & ~0xfffull),
                (size + (address & 0xfff))) == 0
             ? darwin::kSuccess
             : darwin::kInvalidAddress;
}

int Protect(std::uint32_t,
            std::uint64_t address,
            std::uint64_t size,
            int,
            int protection) {
  return mprotect(reinterpret_cast<void*>(address & ~0xfffull),
                  size,
                  protection) == 0
             ? darwin::kSuccess
             : darwin::kInvalidAddress;
}

const std::uint64_t page_size = 4096, page_mask = 4095;
const std::int32_t page_shift = 12;

}  // namespace

bool CopyChecked(std::uint64_t to, std::uint64_t from, std::uint64_t size) {
  if (size == 0)
    return true;
  const iovec local = {reinterpret_cast<void*>(to), size};
  const iovec remote = {reinterpret_cast<void*>(from), size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(size);
}

MACH_SHIM("_mach_vm_read_overwrite", ReadOverwrite);
MACH_SHIM("_vm_read_overwrite", ReadOverwrite);
MACH_SHIM("_mach_vm_read", VmRead);
MACH_SHIM("_vm_read", VmRead);
MACH_SHIM("_mach_vm_write", VmWrite);
MACH_SHIM("_mach_vm_region", Region);
MACH_SHIM("_vm_region_64", Region);
MACH_SHIM("_mach_vm_region_recurse", RegionRecurse);
MACH_SHIM("_vm_region_recurse_64", RegionRecurse);
MACH_SHIM("_mach_vm_allocate", Allocate);
MACH_SHIM("_vm_allocate", Allocate);
MACH_SHIM("_mach_vm_deallocate", Deallocate);
MACH_SHIM("_vm_deallocate", Deallocate);
MACH_SHIM("_mach_vm_protect", Protect);
MACH_SHIM("_vm_protect", Protect);
MACH_SHIM_DATA("_vm_page_size", page_size);
MACH_SHIM_DATA("_vm_page_mask", page_mask);
MACH_SHIM_DATA("_vm_page_shift", page_shift);
MACH_SHIM_DATA("_vm_kernel_page_size", page_size);

}  // namespace mach_host
