// SPDX-License-Identifier: Apache-2.0
#include "capture/thread_facts_mac.h"

#include "safe/bytes.h"
#include "safe/mach_calls_mac.h"
#include "safe/task_memory_mac.h"

namespace cairn::capture {
namespace {

// The start of struct dispatch_queue_offsets_s.
struct DispatchOffsets {
  uint16_t version, label, label_bytes;
};

const void* g_dispatch_offsets = nullptr;

constexpr uint64_t kMaxStackGap = 1 << 20;
constexpr int kMaxStackRegions = 16;

char StateLetter(int32_t run_state) {
  switch (run_state) {
    case TH_STATE_RUNNING:
      return 'R';
    case TH_STATE_WAITING:
      return 'S';
    case TH_STATE_UNINTERRUPTIBLE:
      return 'D';
    case TH_STATE_STOPPED:
    case TH_STATE_HALTED:
      return 'T';
    default:
      return 0;
  }
}

// Every step may meet garbage (A2.16): each is a checked read, and a label that
// is not printable is none.
size_t ReadQueueLabel(uint64_t queue_slot, char* out, size_t capacity) {
  const safe::MemoryReader memory = safe::OwnTaskReader();
  DispatchOffsets offsets;
  uint64_t queue = 0;
  uint64_t label = 0;
  if (g_dispatch_offsets == nullptr || queue_slot == 0 ||
      !memory.ReadValue(reinterpret_cast<uint64_t>(g_dispatch_offsets),
                        &offsets) ||
      offsets.label == 0 || offsets.label_bytes != sizeof(label) ||
      !memory.ReadValue(queue_slot, &queue) || queue == 0 ||
      !memory.ReadValue(queue + offsets.label, &label) || label == 0) {
    return 0;
  }
  const size_t got = memory.ReadSome(label, out, capacity);
  const size_t bytes = safe::Length(out, got);
  for (size_t i = 0; i < bytes; ++i) {
    if (out[i] < 0x20 || out[i] > 0x7e) {
      return 0;
    }
  }
  return bytes;
}

bool ReadIdentity(mach_port_t thread, thread_identifier_info_data_t* out) {
  mach_msg_type_number_t count = THREAD_IDENTIFIER_INFO_COUNT;
  return thread_info(thread,
                     THREAD_IDENTIFIER_INFO,
                     reinterpret_cast<thread_info_t>(out),
                     &count) == KERN_SUCCESS &&
         count >= THREAD_IDENTIFIER_INFO_COUNT;
}

}  // namespace

void SetDispatchOffsets(const void* offsets) {
  g_dispatch_offsets = offsets;
}

uint64_t ThreadIdOf(mach_port_t thread) {
  thread_identifier_info_data_t identity = {};
  return ReadIdentity(thread, &identity) ? identity.thread_id : 0;
}

bool ReadThreadFacts(mach_port_t thread, ThreadFacts* out) {
  *out = {};
  thread_identifier_info_data_t identity = {};
  if (!ReadIdentity(thread, &identity)) {
    return false;
  }
  out->id = identity.thread_id;
  out->handle = identity.thread_handle;
  thread_extended_info_data_t info = {};
  mach_msg_type_number_t count = THREAD_EXTENDED_INFO_COUNT;
  if (thread_info(thread,
                  THREAD_EXTENDED_INFO,
                  reinterpret_cast<thread_info_t>(&info),
                  &count) == KERN_SUCCESS) {
    out->state = StateLetter(info.pth_run_state);
    out->cpu_time_ms = (info.pth_user_time + info.pth_system_time) / 1000000u;
    out->name_bytes = safe::Length(info.pth_name, sizeof(out->name));
    safe::Copy(out->name, info.pth_name, out->name_bytes);
  }
  if (out->name_bytes == 0) {
    out->name_bytes =
        ReadQueueLabel(identity.dispatch_qaddr, out->name, sizeof(out->name));
  }
  return true;
}

Region RegionAt(uint64_t address) {
  mach_vm_address_t low = address;
  mach_vm_size_t bytes = 0;
  vm_region_submap_info_data_64_t info = {};
  // Submaps (the shared cache) are entered, twice at most.
  for (natural_t depth = 0; depth < 3; ++depth) {
    natural_t asked = depth;
    mach_msg_type_number_t count = VM_REGION_SUBMAP_INFO_COUNT_64;
    low = address;
    if (mach_vm_region_recurse(
            mach_task_self_,
            &low,
            &bytes,
            &asked,
            reinterpret_cast<vm_region_recurse_info_t>(&info),
            &count) != KERN_SUCCESS) {
      return {};
    }
    if (info.is_submap == 0) {
      break;
    }
  }
  return {low,
          low + bytes,
          static_cast<uint32_t>(info.protection),
          info.user_tag,
          address >= low && address - low < bytes};
}

StackBounds StackAround(uint64_t stack_pointer) {
  Region region = RegionAt(stack_pointer);
  // In a guard, or below it: what was a stack lies above.
  for (int i = 0; i < 2 && region.high != 0 &&
                  (!region.found || (region.protection & VM_PROT_WRITE) == 0);
       ++i) {
    const uint64_t next = region.found ? region.high : region.low;
    if (next - stack_pointer > kMaxStackGap) {
      return {0, 0};
    }
    region = RegionAt(next);
  }
  if (!region.found || (region.protection & VM_PROT_WRITE) == 0) {
    return {0, 0};
  }
  StackBounds bounds = {region.low, region.high};
  for (int i = 0; i < kMaxStackRegions; ++i) {
    const Region above = RegionAt(bounds.high);
    if (!above.found || above.tag != region.tag ||
        (above.protection & VM_PROT_WRITE) == 0) {
      break;
    }
    bounds.high = above.high;
  }
  return bounds;
}

}  // namespace cairn::capture
