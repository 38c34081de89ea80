// SPDX-License-Identifier: Apache-2.0
#ifndef MACH_HOST_KERNEL_MEMORY_H_
#define MACH_HOST_KERNEL_MEMORY_H_

#include <cstdint>

namespace mach_host {

// Copies by the kernel: false where either side is not there, whole or not at
// all.
bool CopyChecked(std::uint64_t to, std::uint64_t from, std::uint64_t size);

}  // namespace mach_host

#endif  // MACH_HOST_KERNEL_MEMORY_H_
