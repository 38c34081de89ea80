// SPDX-License-Identifier: Apache-2.0
#include "capture/memory_map_linux.h"

#include <fcntl.h>

#include "safe/bytes.h"
#include "safe/syscall_linux.h"
#include "safe/text.h"

namespace cairn::capture {
namespace {

using safe::AsLong;
using safe::SystemCall;

// A line's interesting start: "low-high rwxp".
bool ParseLine(const char* line, size_t length, Mapping* out) {
  size_t position = 0;
  out->low = safe::ParseHex(line, length, &position);
  if (position == 0 || position >= length || line[position] != '-') {
    return false;
  }
  ++position;
  out->high = safe::ParseHex(line, length, &position);
  if (position + 4 >= length || line[position] != ' ') {
    return false;
  }
  out->flags = (line[position + 1] == 'r' ? 4u : 0) |
               (line[position + 2] == 'w' ? 2u : 0) |
               (line[position + 3] == 'x' ? 1u : 0);
  out->found = true;
  return true;
}

void Note(const Mapping& mapping, uint64_t address, Neighbourhood* out) {
  if (mapping.high <= address) {
    out->below = mapping;  // lines rise: the last one is the highest
  } else if (mapping.low <= address) {
    out->holds = mapping;
  } else if (!out->above.found) {
    out->above = mapping;
  }
}

bool AllAbove(const Neighbourhood* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!out[i].above.found) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool FindMappings(int32_t pid,
                  const uint64_t* addresses,
                  size_t count,
                  Neighbourhood* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = {};
  }
  safe::Text<32> path;
  path.Add("/proc/").AddNumber(static_cast<uint32_t>(pid)).Add("/maps");
  safe::ScopedDescriptor file(SystemCall(
      SYS_openat, AT_FDCWD, AsLong(path.c_str()), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) {
    return false;
  }
  char buffer[1024];
  char line[64];
  size_t line_bytes = 0;
  // At most 64 MiB of text, about a million mappings (vm.max_map_count is
  // 65,530 by default).
  for (int round = 0; round < 65536; ++round) {
    const long got =
        SystemCall(SYS_read, file.get(), AsLong(buffer), sizeof(buffer));
    if (got <= 0) {
      break;
    }
    for (long i = 0; i < got; ++i) {
      if (buffer[i] != '\n') {
        if (line_bytes < sizeof(line)) {
          line[line_bytes++] = buffer[i];
        }
        continue;
      }
      Mapping mapping{};
      if (ParseLine(line, line_bytes, &mapping)) {
        for (size_t k = 0; k < count; ++k) {
          Note(mapping, addresses[k], &out[k]);
        }
      }
      line_bytes = 0;
    }
    if (AllAbove(out, count)) {
      break;
    }
  }
  return true;
}

}  // namespace cairn::capture
