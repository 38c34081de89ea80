// SPDX-License-Identifier: Apache-2.0
#include <mach/mach.h>
#include <mach/machine.h>
#include <stdlib.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "client/facts.h"
#include "safe/clock.h"
#include "upload/process_state.h"
#include "writer/record_writer.h"
#include "writer/report_records.h"

namespace cairn::client {
namespace {

using format::Field;
using writer::RecordWriter;
using writer::ScopedGroup;

std::string StringOf(const char* name) {
  char text[256] = {};
  size_t bytes = sizeof(text) - 1;
  return sysctlbyname(name, text, &bytes, nullptr, 0) == 0 ? text : "";
}

uint64_t NumberOf(const char* name) {
  uint64_t value = 0;
  size_t bytes = sizeof(value);
  if (sysctlbyname(name, &value, &bytes, nullptr, 0) != 0) {
    return 0;
  }
  return bytes == sizeof(uint32_t) ? static_cast<uint32_t>(value) : value;
}

// Names of mach/machine.h.
std::string CpuTypeName() {
  const auto type = static_cast<cpu_type_t>(NumberOf("hw.cputype"));
  const auto subtype = static_cast<cpu_subtype_t>(NumberOf("hw.cpusubtype"));
  switch (type & ~CPU_ARCH_MASK) {
    case CPU_TYPE_X86:
      return subtype == CPU_SUBTYPE_X86_64_H ? "x86_64h" : "x86_64";
    case CPU_TYPE_ARM:
      return (type & CPU_ARCH_ABI64) == 0    ? "arm"
             : subtype == CPU_SUBTYPE_ARM64E ? "arm64e"
                                             : "arm64";
    default:
      return "cpu type " + std::to_string(type);
  }
}

// S2.1: host facts in every report.
void PutHost(RecordWriter* records) {
  ScopedGroup group(records, Field::kHost);
  struct utsname name = {};
  uname(&name);
  const std::string build = StringOf("kern.osversion");
  std::string os = "macOS " + StringOf("kern.osproductversion");
  if (!build.empty()) {
    os += " (" + build + ")";
  }
  Put(records, Field::kHostOs, os);
  Put(records,
      Field::kHostKernel,
      std::string(name.sysname) + " " + name.release);
  Put(records, Field::kHostCpu, StringOf("machdep.cpu.brand_string"));
  Put(records, Field::kHostCpuType, CpuTypeName());
  records->PutUnsigned(Field::kHostCores, NumberOf("hw.activecpu"));
  records->PutUnsigned(Field::kHostMemoryBytes, NumberOf("hw.memsize"));
  records->PutUnsigned(Field::kHostPageBytes, vm_page_size);
}

// KERN_PROCARGS2: argument count, path, padding, then arguments and
// environment, each with its NUL.
struct ProcessText {
  std::string path;
  std::string arguments;
};
ProcessText ReadProcessText() {
  int name[3] = {CTL_KERN, KERN_PROCARGS2, getpid()};
  size_t bytes = 0;
  ProcessText text;
  if (sysctl(name, 3, nullptr, &bytes, nullptr, 0) != 0) {
    return text;
  }
  std::vector<char> buffer(bytes + 32);  // one release counts too few (A6.22)
  bytes = buffer.size();
  if (sysctl(name, 3, buffer.data(), &bytes, nullptr, 0) != 0 ||
      bytes <= sizeof(int32_t)) {
    return text;
  }
  int32_t count = 0;
  std::memcpy(&count, buffer.data(), sizeof(count));
  const std::string all(buffer.data() + sizeof(count), bytes - sizeof(count));
  size_t at = std::min(all.find('\0'), all.size());
  text.path = all.substr(0, at);
  at = std::min(all.find_first_not_of('\0', at), all.size());
  for (int32_t i = 0; i < count && at < all.size(); ++i) {
    const size_t end = std::min(all.find('\0', at), all.size());
    text.arguments += all.substr(at, end - at) + '\0';
    at = end + 1;
  }
  return text;
}

void PutProcess(RecordWriter* records, uint32_t pid) {
  const ProcessText text = ReadProcessText();
  ScopedGroup group(records, Field::kProcess);
  records->PutUnsigned(Field::kProcessId, pid);
  records->PutUnsigned(Field::kProcessParentId,
                       static_cast<uint64_t>(getppid()));
  Put(records, Field::kProcessName, ProgramName());
  Put(records, Field::kProcessPath, text.path);
  records->PutUnsigned(Field::kProcessInstallTimeNs, safe::UnixTimeNs());
  PutArguments(records, text.arguments);
}

}  // namespace

std::string ProgramName() {
  const char* name = getprogname();
  return name != nullptr ? name : "";
}

void GatherFacts(const Config& config, handlers::CrashBase* state) {
  state->installer = upload::OwnIdentity();
  const uint64_t now_us = safe::UnixTimeNs() / 1000u;
  const uint64_t start_us = state->installer.start_ticks;
  const uint64_t age_ns =
      start_us != 0 && now_us > start_us ? (now_us - start_us) * 1000u : 0;
  const uint64_t now = safe::MonotonicNs();
  state->start_monotonic_ns = now > age_ns ? now - age_ns : 0;

  RecordWriter records(state->prefix, 0, sizeof(state->prefix), nullptr);
  PutApp(&records, config);
  PutHost(&records);
  PutProcess(&records, state->installer.pid);
  state->prefix_bytes = records.position();
}

}  // namespace cairn::client
