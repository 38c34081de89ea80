// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "client/config.h"
#include "handlers/crash_state.h"
#include "writer/slot.h"

namespace cairn::client {
namespace {

constexpr size_t kLeastSlotBytes = 64 << 10;
// The largest page of any system: slots are whole pages everywhere.
constexpr size_t kPageBytes = 16384;

std::string Or(const char* given, const char* variable) {
  if (given != nullptr && given[0] != '\0') {
    return given;
  }
  const char* value = variable != nullptr ? getenv(variable) : nullptr;
  return value != nullptr ? value : "";
}

size_t Default(uint32_t given, size_t value) {
  return given != 0 ? given : value;
}

}  // namespace

cairn_status ReadConfig(const cairn_config* config, Config* out) {
  if (config == nullptr ||
      config->struct_size < offsetof(cairn_config, app_id) ||
      config->struct_size > sizeof(cairn_config)) {
    return CAIRN_BAD_CONFIG;
  }
  // An app built against an older header passes a shorter struct; the rest is
  // default.
  cairn_config full;
  cairn_config_init(&full);
  std::memcpy(&full, config, config->struct_size);
  const char* disabled = getenv("CAIRN_DISABLE");
  if (disabled != nullptr && disabled[0] != '\0' &&
      std::strcmp(disabled, "0") != 0) {
    return CAIRN_DISABLED;
  }
  out->directory = Or(full.directory, "CAIRN_DIRECTORY");
  out->app_id = Or(full.app_id, "CAIRN_APP_ID");
  if (out->app_id.empty()) {
    out->app_id = ProgramName();
  }
  out->app_version = Or(full.app_version, "CAIRN_APP_VERSION");
  out->app_build = Or(full.app_build, nullptr);
  out->environment = Or(full.environment, nullptr);
  out->upload_url = Or(full.upload_url, "CAIRN_UPLOAD_URL");
  out->upload_token = Or(full.upload_token, "CAIRN_UPLOAD_TOKEN");
  out->on_crash = full.on_crash;
  out->on_crash_context = full.on_crash_context;
  out->crash_limit_ms = Default(full.crash_limit_ms, 2000);
  out->crash_limit_ms_per_thread = Default(full.crash_limit_ms_per_thread, 20);
  out->stack_bytes =
      full.no_stack_bytes != 0 ? 0 : Default(full.stack_bytes, 32768);
  out->max_frames = std::clamp<size_t>(
      Default(full.max_frames, 512), 16, handlers::kMaxFrames);
  out->max_unsent_reports = Default(full.max_unsent_reports, 20);
  out->slot_bytes =
      std::max(Default(full.slot_bytes, 256 << 10), kLeastSlotBytes);
  out->slot_bytes = (out->slot_bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  out->slot_count = static_cast<uint32_t>(
      std::min(Default(full.slot_count, 2), handlers::kMaxSlots));
  out->symbolicate = full.no_symbolication == 0;
  out->next_launch = full.no_next_launch == 0;
  out->chain_first = full.chain_first != 0;
  out->lazy_slots = full.lazy_slots != 0;
  return out->directory.empty() ? CAIRN_BAD_CONFIG : CAIRN_OK;
}

cairn_status StatusOfErrno(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return CAIRN_DIRECTORY_NOT_WRITABLE;
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return CAIRN_DIRECTORY_MISSING;
    case ENOSPC:
    case EDQUOT:
      return CAIRN_DISK_FULL;
    case EFBIG:
      return CAIRN_FILE_SIZE_LIMIT;
    case ENOMEM:
    case EAGAIN:
      return CAIRN_NO_MEMORY;
    case EMFILE:
    case ENFILE:
      return CAIRN_NO_DESCRIPTORS;
    default:
      return CAIRN_IO_ERROR;
  }
}

cairn_status PrepareDirectory(Config* config) {
  if (mkdir(config->directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return StatusOfErrno(errno);
  }
  char* real = realpath(config->directory.c_str(), nullptr);
  if (real == nullptr) {
    return StatusOfErrno(errno);
  }
  config->directory = real;
  free(real);
  struct stat facts;
  if (stat(config->directory.c_str(), &facts) != 0) {
    return StatusOfErrno(errno);
  }
  if (!S_ISDIR(facts.st_mode)) {
    return CAIRN_DIRECTORY_MISSING;
  }
  if (facts.st_uid != geteuid() || (facts.st_mode & 0022) != 0) {
    return CAIRN_DIRECTORY_UNSAFE;
  }
  if (access(config->directory.c_str(), W_OK | X_OK) != 0) {
    return CAIRN_DIRECTORY_NOT_WRITABLE;
  }
  return config->directory.size() > writer::kMaxDirectoryBytes
             ? CAIRN_BAD_CONFIG
             : CAIRN_OK;
}

}  // namespace cairn::client
