// SPDX-License-Identifier: Apache-2.0
#include "client/slots.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "writer/report_records.h"
#include "writer/slot_file.h"

namespace cairn::client {
namespace {

constexpr size_t kSecondPartBytes = 8 << 20;

// A directory that may be searched but not read will do where that can be said.
#ifdef O_PATH
constexpr int kDirectoryFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
#else
constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
#endif

// Facts and images go into the first slot now; the others get them when they
// are claimed.
void ArmSlot(handlers::CrashBase* state) {
  writer::Slot& slot = state->slots[0];
  format::FileHeader* header = slot.header;
  writer::RecordWriter records(reinterpret_cast<uint8_t*>(header),
                               sizeof(format::FileHeader),
                               slot.first_bytes / 2,
                               &header->committed_bytes);
  records.PutRecords(state->prefix, state->prefix_bytes);
  state->images_in_slot[0] = writer::PutImages(&records, *state->images, 0);
  records.Commit();
  header->install_bytes = records.position();
  __atomic_store_n(&header->state,
                   static_cast<uint32_t>(format::SlotState::kArmed),
                   __ATOMIC_RELEASE);
}

}  // namespace

cairn_status OpenDirectory(const Config& config,
                           char* path,
                           handlers::CrashBase* state) {
  writer::SlotDirectory& directory = state->slot_spec.directory;
  std::memcpy(path, config.directory.c_str(), config.directory.size() + 1);
  directory.path = path;
  directory.fd = open(path, kDirectoryFlags);
  writer::FileIdentity identity;
  if (directory.fd < 0 || !writer::IdentifyFile(directory.fd, &identity)) {
    return StatusOfErrno(errno);
  }
  directory.device = identity.device;
  directory.inode = identity.inode;
  return CAIRN_OK;
}

cairn_status MakeSlots(const Config& config, handlers::CrashBase* state) {
  state->slot_spec.first_bytes = config.slot_bytes;
  state->slot_spec.second_bytes = kSecondPartBytes;
  state->slot_spec.installer = state->installer;
  const uint32_t wanted = config.lazy_slots ? 0 : config.slot_count;
  for (uint32_t i = 0; i < wanted; ++i) {
    const int failed = writer::MakeSlot(state->slot_spec, &state->slots[i]);
    if (failed != 0) {
      return StatusOfErrno(failed);
    }
    state->slot_count = i + 1;
  }
  if (wanted > 0) {
    ArmSlot(state);
  }
  return CAIRN_OK;
}

void FillLimits(const Config& config, handlers::CrashBase* state) {
  state->limits = {config.crash_limit_ms * 1000000u,
                   config.crash_limit_ms_per_thread * 1000000u,
                   config.stack_bytes,
                   config.max_frames};
  state->chain_first = config.chain_first;
  state->on_crash = reinterpret_cast<handlers::CrashCallback>(config.on_crash);
  state->on_crash_context = config.on_crash_context;
  // For tests of what stands when the writer is killed; see
  // docs/architecture.md.
  const char* stop = getenv("CAIRN_TEST_STOP_AFTER");
  if (stop != nullptr && std::strcmp(stop, "first-stage") == 0) {
    state->stop_point = handlers::StopPoint::kAfterFirstStage;
  }
}

void RemoveSlots(handlers::CrashBase* state) {
  for (uint32_t i = 0; i < state->slot_count; ++i) {
    if (state->slots[i].header != nullptr &&
        state->slots[i].header->claim == 0) {
      writer::RemoveSlot(&state->slots[i], state->slot_spec.directory);
    }
  }
  if (state->slot_spec.directory.fd >= 0) {
    close(state->slot_spec.directory.fd);
  }
}

}  // namespace cairn::client
