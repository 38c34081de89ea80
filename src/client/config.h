// SPDX-License-Identifier: Apache-2.0
//
// The configuration as it is in force: the caller's strings copied, empty ones
// filled from the environment, limits checked.
#ifndef CAIRN_CLIENT_CONFIG_H_
#define CAIRN_CLIENT_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "cairn/cairn.h"

namespace cairn::client {

struct Config {
  std::string directory;  // absolute, without links
  std::string app_id, app_version, app_build, environment;
  std::string upload_url, upload_token;
  cairn_crash_callback on_crash = nullptr;
  void* on_crash_context = nullptr;
  uint64_t crash_limit_ms = 2000;
  uint64_t crash_limit_ms_per_thread = 20;
  size_t stack_bytes = 32768;
  size_t max_frames = 512;
  size_t max_unsent_reports = 20;
  size_t slot_bytes = 256 << 10;
  uint32_t slot_count = 2;
  bool symbolicate = true;
  bool next_launch = true;
  bool chain_first = false;
  bool lazy_slots = false;
};

// Copies `config` and fills in what the environment says. CAIRN_OK,
// CAIRN_BAD_CONFIG or CAIRN_DISABLED.
cairn_status ReadConfig(const cairn_config* config, Config* out);

// Makes the directory if it is missing (mode 0700), checks that it is ours
// alone, and replaces `config->directory` by its absolute path.
cairn_status PrepareDirectory(Config* config);

// The name this program was started by; "" when unknown.
std::string ProgramName();

// errno of a file-system call → what the app should be told.
cairn_status StatusOfErrno(int error);

}  // namespace cairn::client

#endif  // CAIRN_CLIENT_CONFIG_H_
