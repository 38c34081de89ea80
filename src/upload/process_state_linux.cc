// SPDX-License-Identifier: Apache-2.0
#include "upload/process_state.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace cairn::upload {
namespace {

using BootId = std::array<uint8_t, 16>;

constexpr size_t kStatState = 0, kStatThreads = 17, kStatStart = 19;

struct ProcStat {
  char state = 0;
  uint64_t threads = 0, start_ticks = 0;
};

// Fields of /proc/PID/stat behind the name, which may hold blanks and brackets.
bool ReadStat(uint32_t pid, ProcStat* out) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line, '\0') && line.empty()) {
    return false;
  }
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    return false;
  }
  std::istringstream rest(line.substr(name_end + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) {
    fields.push_back(field);
  }
  if (fields.size() <= kStatStart) {
    return false;
  }
  out->state = fields[kStatState][0];
  out->threads = std::strtoull(fields[kStatThreads].c_str(), nullptr, 10);
  out->start_ticks = std::strtoull(fields[kStatStart].c_str(), nullptr, 10);
  return true;
}

// "6fd5a44b-35f4-4ad4-a9b9-6b9be13e1fe9"; zero when it cannot be read.
BootId ReadBootId() {
  BootId id{};
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  text.erase(std::remove(text.begin(), text.end(), '-'), text.end());
  if (text.size() != 2 * id.size() ||
      !std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isxdigit(c) != 0;
      })) {
    return id;
  }
  for (size_t i = 0; i < id.size(); ++i) {
    id[i] =
        static_cast<uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

uint64_t PidNamespace() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

bool ProcIsThere() {
  return access("/proc/self/stat", R_OK) == 0;
}

}  // namespace

format::ProcessIdentity OwnIdentity() {
  format::ProcessIdentity identity{};
  const BootId boot = ReadBootId();
  std::memcpy(identity.boot_id, boot.data(), boot.size());
  identity.pid_namespace = PidNamespace();
  identity.pid = static_cast<uint32_t>(getpid());
  ProcStat stat;
  if (ReadStat(identity.pid, &stat)) {
    identity.start_ticks = stat.start_ticks;
  }
  return identity;
}

ProcessState StateOf(const format::ProcessIdentity& identity) {
  BootId boot{};
  std::memcpy(boot.data(), identity.boot_id, boot.size());
  const BootId now = ReadBootId();
  if (boot == BootId{} || now == BootId{} || identity.pid == 0) {
    return ProcessState::kUnknown;
  }
  if (boot != now) {
    return ProcessState::kDead;
  }
  if (identity.pid_namespace == 0 || identity.pid_namespace != PidNamespace() ||
      !ProcIsThere()) {
    return ProcessState::kUnknown;
  }
  ProcStat stat;
  if (!ReadStat(identity.pid, &stat)) {
    // hidepid hides others' processes; the kernel still knows them.
    return kill(static_cast<pid_t>(identity.pid), 0) != 0 && errno == ESRCH
               ? ProcessState::kDead
               : ProcessState::kUnknown;
  }
  const bool gone =
      (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
  return stat.start_ticks == identity.start_ticks && !gone
             ? ProcessState::kAlive
             : ProcessState::kDead;
}

}  // namespace cairn::upload
