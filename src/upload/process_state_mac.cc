// SPDX-License-Identifier: Apache-2.0
#include "upload/process_state.h"

#include <sys/sysctl.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace cairn::upload {
namespace {

constexpr char kZombie = 5;  // SZOMB

// A UUID of this boot.
void ReadBootId(uint8_t out[16]) {
  char text[64] = {};
  size_t bytes = sizeof(text) - 1;
  if (sysctlbyname("kern.bootsessionuuid", text, &bytes, nullptr, 0) != 0) {
    return;
  }
  size_t nibble = 0;
  for (const char c : std::string(text)) {
    const std::string digits = "0123456789ABCDEF";
    const size_t value = digits.find(static_cast<char>(std::toupper(c)));
    if (value != std::string::npos && nibble < 32) {
      out[nibble / 2] = static_cast<uint8_t>(out[nibble / 2] << 4 | value);
      ++nibble;
    }
  }
}

// False when there is no such process.
bool ReadProcess(uint32_t pid, uint64_t* start_us, bool* zombie) {
  int name[4] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, static_cast<int>(pid)};
  kinfo_proc info = {};
  size_t bytes = sizeof(info);
  if (sysctl(name, 4, &info, &bytes, nullptr, 0) != 0 || bytes == 0) {
    return false;
  }
  const timeval& start = info.kp_proc.p_starttime;
  *start_us = static_cast<uint64_t>(start.tv_sec) * 1000000u +
              static_cast<uint64_t>(start.tv_usec);
  *zombie = info.kp_proc.p_stat == kZombie;
  return true;
}

}  // namespace

// The start time is in microseconds since 1970.
format::ProcessIdentity OwnIdentity() {
  format::ProcessIdentity identity{};
  ReadBootId(identity.boot_id);
  identity.pid = static_cast<uint32_t>(getpid());
  bool zombie = false;
  if (!ReadProcess(identity.pid, &identity.start_ticks, &zombie)) {
    identity.start_ticks = 0;
  }
  return identity;
}

ProcessState StateOf(const format::ProcessIdentity& identity) {
  const format::ProcessIdentity zero{};
  uint8_t boot[16] = {};
  ReadBootId(boot);
  if (identity.pid == 0 ||
      std::memcmp(identity.boot_id, zero.boot_id, sizeof(boot)) == 0 ||
      std::memcmp(boot, zero.boot_id, sizeof(boot)) == 0) {
    return ProcessState::kUnknown;
  }
  if (std::memcmp(boot, identity.boot_id, sizeof(boot)) != 0) {
    return ProcessState::kDead;
  }
  uint64_t start_us = 0;
  bool zombie = false;
  if (!ReadProcess(identity.pid, &start_us, &zombie)) {
    return ProcessState::kDead;
  }
  return start_us == identity.start_ticks && !zombie ? ProcessState::kAlive
                                                     : ProcessState::kDead;
}

}  // namespace cairn::upload
