// SPDX-License-Identifier: Apache-2.0
#include "client/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "capture/thread_list_linux.h"
#include "safe/syscall_linux.h"
#include "writer/record_writer.h"
#include "writer/report_records.h"

namespace cairn::client {
namespace {

using format::Field;
using writer::RecordWriter;
using writer::ScopedGroup;

// The first `limit` bytes of a small file; "" when it cannot be read.
std::string ReadFile(const char* path, size_t limit) {
  std::string text(limit, '\0');
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return "";
  }
  size_t length = 0;
  while (length < limit) {
    const ssize_t got = read(fd, text.data() + length, limit - length);
    if (got <= 0) {
      break;
    }
    length += static_cast<size_t>(got);
  }
  close(fd);
  text.resize(length);
  return text;
}

// The value of `key` in lines "key<separators>value".
std::string ValueOf(const std::string& text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string::npos;
       at = text.find(key, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') {
      continue;
    }
    const size_t from = text.find_first_not_of(" \t:=\"", at + key.size());
    const size_t to = text.find_first_of("\"\n", from);
    return from == std::string::npos ? "" : text.substr(from, to - from);
  }
  return "";
}

// S2.1: host facts in every report.
void PutHost(RecordWriter* records) {
  ScopedGroup group(records, Field::kHost);
  struct utsname name = {};
  uname(&name);
  const std::string os =
      ValueOf(ReadFile("/etc/os-release", 4096), "PRETTY_NAME");
  Put(records, Field::kHostOs, os.empty() ? "Linux" : os);
  Put(records,
      Field::kHostKernel,
      std::string(name.sysname) + " " + name.release);
  const std::string cpu = ReadFile("/proc/cpuinfo", 2048);
  Put(records, Field::kHostCpu, ValueOf(cpu, "model name"));
  const std::string family = ValueOf(cpu, "cpu family");
  std::string type = name.machine;
  if (!family.empty()) {
    type += " family " + family + " model " + ValueOf(cpu, "model\t") +
            " stepping " + ValueOf(cpu, "stepping");
  }
  Put(records, Field::kHostCpuType, type);
  records->PutUnsigned(Field::kHostCores,
                       static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  records->PutUnsigned(Field::kHostMemoryBytes,
                       static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page);
  records->PutUnsigned(Field::kHostPageBytes, page);
}

void PutProcess(RecordWriter* records, uint32_t pid) {
  ScopedGroup group(records, Field::kProcess);
  records->PutUnsigned(Field::kProcessId, pid);
  records->PutUnsigned(Field::kProcessParentId,
                       static_cast<uint64_t>(getppid()));
  std::string name = ReadFile("/proc/self/comm", 64);
  name.resize(name.find_last_not_of('\n') + 1);
  Put(records, Field::kProcessName, name);
  char path[4096];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path));
  if (bytes > 0) {
    Put(records,
        Field::kProcessPath,
        std::string_view(path, static_cast<size_t>(bytes)));
  }
  records->PutUnsigned(Field::kProcessInstallTimeNs, safe::UnixTimeNs());
  PutArguments(records, ReadFile("/proc/self/cmdline", 32 << 10));
}

void ReadBootId(uint8_t out[16]) {
  const std::string text = ReadFile("/proc/sys/kernel/random/boot_id", 64);
  size_t nibble = 0;
  for (const char c : text) {
    const std::string_view digits = "0123456789abcdef";
    const size_t value = digits.find(c);
    if (value != std::string_view::npos && nibble < 32) {
      out[nibble / 2] = static_cast<uint8_t>(out[nibble / 2] << 4 | value);
      ++nibble;
    }
  }
}

}  // namespace

std::string ProgramName() {
  const char* name = program_invocation_short_name;
  return name != nullptr ? name : "";
}

void GatherFacts(const Config& config, handlers::CrashBase* state) {
  format::ProcessIdentity& own = state->installer;
  own = {};
  ReadBootId(own.boot_id);
  struct stat facts;
  own.pid_namespace = stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 0;
  own.pid = static_cast<uint32_t>(getpid());
  own.start_ticks = capture::ReadStartTicks(static_cast<int32_t>(own.pid));
  // Start ticks count from boot (CLOCK_BOOTTIME); uptime is told against the
  // monotonic clock, so a suspended machine does not count as running.
  const auto hertz = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  const uint64_t since_boot_ns = safe::ClockNs(7 /* CLOCK_BOOTTIME */);
  const uint64_t start_ns = own.start_ticks * (1000000000u / hertz);
  const uint64_t age_ns =
      since_boot_ns > start_ns ? since_boot_ns - start_ns : 0;
  const uint64_t now = safe::MonotonicNs();
  state->start_monotonic_ns = now > age_ns ? now - age_ns : 0;

  RecordWriter records(state->prefix, 0, sizeof(state->prefix), nullptr);
  PutApp(&records, config);
  PutHost(&records);
  PutProcess(&records, own.pid);
  state->prefix_bytes = records.position();
}

}  // namespace cairn::client
