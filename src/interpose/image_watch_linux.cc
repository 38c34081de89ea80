// SPDX-License-Identifier: Apache-2.0
#include "interpose/image_watch.h"

#include <unistd.h>

#include "safe/block_reader.h"
#include "safe/process_memory_linux.h"
#include "writer/report_records.h"

namespace cairn::interpose {
namespace {

// While the claim holds this value the slot is nobody's: a crash at this moment
// takes the next slot of the pool instead of waiting.
constexpr uint64_t kBusyClaim = 1;

// Images that the armed slot does not have yet go behind what install wrote.
void AppendToSlot(handlers::CrashState* state, uint32_t index) {
  writer::Slot& slot = state->slots[index];
  format::FileHeader* header = slot.header;
  uint64_t unclaimed = 0;
  if (!__atomic_compare_exchange_n(&header->claim,
                                   &unclaimed,
                                   kBusyClaim,
                                   false,
                                   __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    return;
  }
  writer::RecordWriter records(reinterpret_cast<uint8_t*>(header),
                               static_cast<size_t>(header->install_bytes),
                               slot.first_bytes / 2,
                               &header->committed_bytes);
  state->images_in_slot[index] =
      writer::PutImages(&records, *state->images, state->images_in_slot[index]);
  records.Commit();
  header->install_bytes = records.position();
  __atomic_store_n(&header->claim, 0, __ATOMIC_RELEASE);
}

}  // namespace

void UpdateImages(handlers::CrashState* state) {
  uint32_t idle = 0;
  if (!__atomic_compare_exchange_n(&state->images_busy,
                                   &idle,
                                   1,
                                   false,
                                   __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    return;
  }
  int32_t pid = getpid();
  safe::BlockReader blocks(safe::ProcessReader(&pid));
  capture::RefreshImages(state->images, state->vectors, blocks.reader());
  const bool own = static_cast<uint32_t>(pid) == state->installer.pid;
  if (own && state->slot_count > 0 &&
      state->images_in_slot[0] < state->images->count()) {
    AppendToSlot(state, 0);
  }
  __atomic_store_n(&state->images_busy, 0, __ATOMIC_RELEASE);
}

}  // namespace cairn::interpose
