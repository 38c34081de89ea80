// SPDX-License-Identifier: Apache-2.0
//
// The part of a crash's state that no system changes: what install prepares for
// the report, and the report as it is being written.
//
// Install fills it and then only the crash writes to it. Zero at first; the big
// arrays are touched only as far as they are used.
#ifndef CAIRN_HANDLERS_CRASH_BASE_H_
#define CAIRN_HANDLERS_CRASH_BASE_H_

#include <cstddef>
#include <cstdint>

#include "capture/image_table.h"
#include "capture/registers.h"
#include "capture/unwinder.h"
#include "writer/annotations.h"
#include "writer/frame_trie.h"
#include "writer/record_writer.h"
#include "writer/slot.h"

namespace cairn::handlers {

inline constexpr size_t kMaxSlots = 8;
inline constexpr size_t kMaxFrames = 1024;
inline constexpr size_t kInnerStackBytes = 256 << 10;
inline constexpr size_t kOuterStackBytes = 64 << 10;
inline constexpr size_t kPrefixBytes = 32 << 10;
inline constexpr uint32_t kTrieNodes = 1u << 17;
// 32 KiB: a crash of one thread touches each page of them, so they are few, and
// a chain of a full trie is 16 nodes long.
inline constexpr uint32_t kTrieBuckets = 1u << 13;

using CrashCallback = void (*)(const void* info, void* context);

struct Limits {
  uint64_t limit_ns;
  uint64_t limit_per_thread_ns;
  size_t stack_bytes;  // 0: keep none
  size_t max_frames;
};

struct ExceptionFacts {
  uint32_t taken;      // a thread is filling this in, or has
  uint32_t thread_id;  // 0: none; set last
  uint32_t type_bytes;
  uint32_t message_bytes;
  char type[512];
  char message[1024];
};

// Where a test ends the writing, to see that what stands is whole.
enum class StopPoint : uint32_t { kNone = 0, kAfterFirstStage = 1 };

struct CrashBase {
  // --- set by install ---
  uint32_t installed;
  Limits limits;
  bool chain_first;
  format::ProcessIdentity installer;
  uint64_t start_monotonic_ns;  // of the process
  writer::SlotSpec slot_spec;
  writer::Slot slots[kMaxSlots];
  uint32_t slot_count;
  uint32_t images_in_slot[kMaxSlots];
  CrashCallback on_crash;
  void* on_crash_context;
  capture::ImageTable* images;
  writer::Annotations* annotations;
  uint8_t prefix[kPrefixBytes];  // app, host and process groups as records
  size_t prefix_bytes;
  ExceptionFacts exception;
  StopPoint stop_point;

  // --- the crash ---
  uint64_t entered_ns;
  int32_t crashed_thread;
  int32_t process_id;
  bool foreign_process;  // a forked child of the installer
  writer::Slot* slot;
  writer::Slot late_slot;  // made at the crash
  writer::RecordWriter records;
  writer::FrameTrie trie;
  bool trie_ready;
  bool timed_out;
  uint32_t images_written;
  capture::Registers registers;    // of the crashed thread
  capture::Registers previous;     // of the thread written last
  capture::StackBounds stack;      // of the crashed thread
  uint64_t copy_low, copy_high;    // what inner_stack holds
  uint64_t outer_low, outer_high;  // what outer_stack holds
  bool has_fault_address;
  uint64_t fault_address;
  capture::StackBounds told_stack;  // whose bytes are in the report
  uint64_t memory_bytes;            // near registers, in the report

  // --- big, lazily touched ---
  capture::Frame frames[kMaxFrames];
  uint8_t payload[writer::FrameTrie::PayloadBytes(kMaxFrames)];
  writer::TrieNode nodes[kTrieNodes];
  uint32_t buckets[kTrieBuckets];
  alignas(64) uint8_t inner_stack[kInnerStackBytes];
  alignas(64) uint8_t outer_stack[kOuterStackBytes];
  alignas(64) uint8_t rule_cache[256 << 10];
};

// The state of this process; null before install and after uninstall.
CrashBase* Base();
void SetBase(CrashBase* base);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_CRASH_BASE_H_
