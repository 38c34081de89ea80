// SPDX-License-Identifier: Apache-2.0
//
// Mappings of a process, from /proc/PID/maps, read in one bounded pass.
//
// Crash time: yes. Any thread.
#ifndef CAIRN_CAPTURE_MEMORY_MAP_LINUX_H_
#define CAIRN_CAPTURE_MEMORY_MAP_LINUX_H_

#include <cstddef>
#include <cstdint>

namespace cairn::capture {

struct Mapping {
  uint64_t low;
  uint64_t high;   // end
  uint32_t flags;  // read 4, write 2, execute 1
  bool found;
};

// What is around one address.
struct Neighbourhood {
  Mapping below;  // the highest mapping that ends at or below the address
  Mapping holds;  // the mapping that holds it
  Mapping above;  // the lowest mapping that starts above it
};

// Asks about `count` addresses (at most 8) in one pass. False when the file
// cannot be read: no /proc, no descriptor left, or refused.
bool FindMappings(int32_t pid,
                  const uint64_t* addresses,
                  size_t count,
                  Neighbourhood* out);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_MEMORY_MAP_LINUX_H_
