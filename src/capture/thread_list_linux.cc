// SPDX-License-Identifier: Apache-2.0
#include "capture/thread_list_linux.h"

#include <fcntl.h>

#include "safe/bytes.h"
#include "safe/syscall_linux.h"
#include "safe/text.h"

namespace cairn::capture {
namespace {

using safe::AsLong;
using safe::SystemCall;

// struct linux_dirent64 (include/linux/dirent.h): d_ino, d_off, d_reclen,
// d_type.
constexpr size_t kDirentReclen = 16;
constexpr size_t kDirentName = 19;

long OpenRead(const char* path, long flags) {
  return SystemCall(
      SYS_openat, AT_FDCWD, AsLong(path), O_RDONLY | O_CLOEXEC | flags);
}

// The kernel lists in the same order every time, so the next known id is nearly
// always the one at `*cursor`.
bool Contains(const int32_t* ids, size_t count, int32_t id, size_t* cursor) {
  if (*cursor < count && ids[*cursor] == id) {
    ++*cursor;
    return true;
  }
  for (size_t i = 0; i < count; ++i) {
    if (ids[i] == id) {
      *cursor = i + 1;
      return true;
    }
  }
  return false;
}

bool Listed(const int32_t* ids, size_t count, int32_t id) {
  size_t cursor = 0;
  return Contains(ids, count, id, &cursor);
}

// One file of /proc/PID/task/TID into `out`; returns its bytes, 0 on failure.
size_t ReadTaskFile(int32_t pid,
                    int32_t tid,
                    const char* name,
                    char* out,
                    size_t capacity) {
  safe::Text<64> path;
  path.Add("/proc/").AddNumber(static_cast<uint32_t>(pid));
  if (tid != 0) {
    path.Add("/task/").AddNumber(static_cast<uint32_t>(tid));
  }
  path.Add("/").Add(name);
  safe::ScopedDescriptor file(OpenRead(path.c_str(), 0));
  if (!file.ok()) {
    return 0;
  }
  const long got = SystemCall(
      SYS_read, file.get(), AsLong(out), static_cast<long>(capacity));
  return got > 0 ? static_cast<size_t>(got) : 0;
}

// Fields of a stat line behind the name's closing parenthesis, which is the
// last one of the line: a name may hold any byte (proc(5)).
size_t BehindName(const char* line, size_t length) {
  for (size_t i = length; i > 0; --i) {
    if (line[i - 1] == ')') {
      return i;
    }
  }
  return length;
}

// Moves to field `wanted`, counted from 3 at `position`.
size_t SkipToField(const char* line,
                   size_t length,
                   size_t position,
                   int wanted) {
  for (int field = 2; field < wanted && position < length; ++position) {
    if (line[position] == ' ') {
      ++field;
    }
  }
  return position;
}

}  // namespace

size_t ListThreads(int32_t pid,
                   int32_t* ids,
                   size_t count,
                   size_t capacity,
                   int* failed,
                   size_t* more) {
  *failed = 0;
  *more = 0;
  safe::Text<64> path;
  path.Add("/proc/").AddNumber(static_cast<uint32_t>(pid)).Add("/task");
  safe::ScopedDescriptor directory(OpenRead(path.c_str(), O_DIRECTORY));
  if (!directory.ok()) {
    *failed = static_cast<int>(-directory.get());
    return count;
  }
  const size_t known = count;
  size_t cursor = 0;
  alignas(8) uint8_t entries[1024];
  // Bounded: a directory that grows as fast as it is read ends here too.
  for (size_t round = 0; round < 65536; ++round) {
    const long got = SystemCall(
        SYS_getdents64, directory.get(), AsLong(entries), sizeof(entries));
    if (got <= 0) {
      *failed = got < 0 ? static_cast<int>(-got) : 0;
      break;
    }
    for (size_t at = 0; at + kDirentName < static_cast<size_t>(got);) {
      uint16_t record_bytes;
      safe::Copy(&record_bytes, entries + at + kDirentReclen, 2);
      if (record_bytes < kDirentName) {
        return count;
      }
      const char* name =
          reinterpret_cast<const char*>(entries + at + kDirentName);
      size_t position = 0;
      const auto id =
          static_cast<int32_t>(safe::ParseNumber(name, 16, &position));
      at += record_bytes;
      if (position == 0 || Contains(ids, known, id, &cursor)) {
        continue;
      }
      if (count == capacity) {
        ++*more;
        continue;
      }
      ids[count++] = id;
    }
  }
  return count;
}

size_t ScanThreads(int32_t pid,
                   int32_t* ids,
                   size_t count,
                   size_t capacity,
                   const int32_t* known,
                   size_t known_count,
                   int32_t newest) {
  constexpr int32_t kMostTried = 65536;
  const int32_t last = newest - pid < kMostTried ? newest : pid + kMostTried;
  const size_t before = count;
  for (int32_t id = pid; id <= last && count < capacity; ++id) {
    if (!Listed(ids, before, id) && SystemCall(SYS_tgkill, pid, id, 0) == 0) {
      ids[count++] = id;
    }
  }
  for (size_t i = 0; i < known_count && count < capacity; ++i) {
    const int32_t id = known[i];
    if (id > 0 && (id < pid || id > last) && !Listed(ids, count, id) &&
        SystemCall(SYS_tgkill, pid, id, 0) == 0) {
      ids[count++] = id;
    }
  }
  return count;
}

bool ReadThreadFacts(int32_t pid, int32_t tid, ThreadFacts* out) {
  *out = {};
  char line[512];
  const size_t length = ReadTaskFile(pid, tid, "stat", line, sizeof(line));
  size_t open = 0;
  while (open < length && line[open] != '(') {
    ++open;
  }
  const size_t behind = BehindName(line, length);
  if (open + 1 >= behind || behind + 1 >= length) {
    return false;
  }
  const size_t name_bytes = behind - 1 - (open + 1);
  out->name_bytes = static_cast<uint32_t>(name_bytes < 15 ? name_bytes : 15);
  safe::Copy(out->name, line + open + 1, out->name_bytes);
  out->state = line[behind + 1];
  // Fields 14 and 15: time in user and in kernel mode, clock ticks of 1/100 s.
  size_t position = SkipToField(line, length, behind, 14);
  const uint64_t user = safe::ParseNumber(line, length, &position);
  ++position;
  const uint64_t kernel = safe::ParseNumber(line, length, &position);
  out->cpu_time_ms = (user + kernel) * 10;
  return true;
}

bool ReadSleepingThread(int32_t pid,
                        int32_t tid,
                        uint64_t* stack_pointer,
                        uint64_t* pc) {
  char line[256];
  const size_t length = ReadTaskFile(pid, tid, "syscall", line, sizeof(line));
  // "NR a b c d e f SP PC", "-1 SP PC", or "running".
  if (length == 0 || line[0] == 'r') {
    return false;
  }
  uint64_t last[2] = {0, 0};
  int numbers = 0;
  for (size_t i = 0; i + 2 < length; ++i) {
    if (line[i] == ' ' && line[i + 1] == '0' && line[i + 2] == 'x') {
      size_t position = i + 3;
      last[0] = last[1];
      last[1] = safe::ParseHex(line, length, &position);
      ++numbers;
    }
  }
  *stack_pointer = last[0];
  *pc = last[1];
  return numbers >= 2 && last[1] != 0;
}

uint64_t ReadStartTicks(int32_t pid) {
  char line[512];
  const size_t length = ReadTaskFile(pid, 0, "stat", line, sizeof(line));
  const size_t behind = BehindName(line, length);
  size_t position = SkipToField(line, length, behind, 22);
  return position < length ? safe::ParseNumber(line, length, &position) : 0;
}

}  // namespace cairn::capture
