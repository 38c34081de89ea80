// SPDX-License-Identifier: Apache-2.0
//
// Everything a crash needs, in one mapping made at install. Nothing here is
// allocated, opened or computed at the crash if it could be before.
//
// Install fills it and then only the crash writes to it. A forked child has its
// own copy. The big arrays are touched only as far as they are used.
#ifndef CAIRN_HANDLERS_CRASH_STATE_H_
#define CAIRN_HANDLERS_CRASH_STATE_H_

#include <cstddef>
#include <cstdint>

#include "capture/freeze_linux.h"
#include "capture/image_table.h"
#include "capture/registers.h"
#include "capture/unwinder.h"
#include "writer/annotations.h"
#include "writer/frame_trie.h"
#include "writer/record_writer.h"
#include "writer/slot_linux.h"

namespace cairn::handlers {

inline constexpr int kSignals[] =
    {11, 7, 4, 8, 6, 5, 31};  // SEGV BUS ILL FPE ABRT TRAP SYS
inline constexpr size_t kSignalCount = sizeof(kSignals) / sizeof(kSignals[0]);
inline constexpr size_t kMaxSlots = 8;
inline constexpr size_t kMaxThreads = 16384;
inline constexpr size_t kMaxFrames = 1024;
inline constexpr size_t kMaxAlsoCrashed = 64;
inline constexpr size_t kInnerStackBytes = 256 << 10;
inline constexpr size_t kOuterStackBytes = 64 << 10;
inline constexpr size_t kWriterStackBytes = 256 << 10;
inline constexpr size_t kWriterSignalStackBytes = 64 << 10;
inline constexpr size_t kPrefixBytes = 32 << 10;
inline constexpr uint32_t kTrieNodes = 1u << 17;
inline constexpr uint32_t kTrieBuckets = 1u << 16;

// struct sigaction as rt_sigaction(2) takes it.
struct KernelAction {
  uint64_t handler;
  uint64_t flags;
  uint64_t restorer;
  uint64_t mask;
};

using CrashCallback = void (*)(const void* info, void* context);

struct Limits {
  uint64_t limit_ns;
  uint64_t limit_per_thread_ns;
  size_t stack_bytes;  // 0: keep none
  size_t max_frames;
};

// A thread that crashed while another's crash was being handled.
struct AlsoCrashed {
  int32_t thread_id;
  int32_t signal;
  const void* ucontext;
};

struct ExceptionFacts {
  uint32_t thread_id;  // 0: none; set last
  uint32_t type_bytes;
  uint32_t message_bytes;
  char type[512];
  char message[1024];
};

// Where a test ends the writing, to see that what stands is whole.
enum class StopPoint : uint32_t { kNone = 0, kAfterFirstStage = 1 };

struct CrashState {
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
  KernelAction earlier[kSignalCount];
  CrashCallback on_crash;
  void* on_crash_context;
  capture::ImageTable* images;
  uint32_t images_busy;  // somebody is changing the table
  capture::ProcessVectors vectors;
  writer::Annotations* annotations;
  // glibc's own last words: a pointer to {unsigned size; char text[]}, or null.
  const uint64_t* abort_message;
  uint8_t prefix[kPrefixBytes];  // app, host and process groups as records
  size_t prefix_bytes;
  ExceptionFacts exception;
  StopPoint stop_point;

  // --- the crash ---
  uint64_t winner;    // pid << 32 | thread id of who writes; 0: nobody
  uint32_t released;  // rises whenever a winner has let go
  uint32_t nested;    // faults of the winner in our own code
  uint32_t survived;  // reports whose crash an earlier handler undid
  AlsoCrashed also_crashed[kMaxAlsoCrashed];
  uint32_t also_crashed_count;
  uint64_t entered_ns;
  int32_t crashed_thread;
  int32_t process_id;
  bool foreign_process;  // a forked child of the installer
  int32_t signal;
  const void* siginfo;
  void* ucontext;
  writer::Slot* slot;
  writer::Slot late_slot;  // made at the crash
  writer::RecordWriter records;
  writer::FrameTrie trie;
  bool trie_ready;
  uint32_t images_written;
  capture::Registers registers;    // of the crashed thread
  capture::Registers previous;     // of the thread written last
  capture::StackBounds stack;      // of the crashed thread
  uint64_t copy_low, copy_high;    // what inner_stack holds
  uint64_t outer_low, outer_high;  // what outer_stack holds

  // --- crashed thread and writer process ---
  uint32_t
      writer_word;  // kWriterRuns, kWriterDone; the kernel writes 0 at its end
  uint32_t may_trace;     // set once the writer may trace us
  uint32_t may_thaw;      // set once the death is on its way
  uint32_t threads_seen;  // raises the time limit
  int32_t writer_process;
  uint64_t deadline_ns;
  bool timed_out;

  // --- big, lazily touched ---
  capture::Frame frames[kMaxFrames];
  uint8_t payload[writer::FrameTrie::PayloadBytes(kMaxFrames)];
  writer::TrieNode nodes[kTrieNodes];
  uint32_t buckets[kTrieBuckets];
  capture::FrozenThread frozen[kMaxThreads];
  int32_t thread_ids[kMaxThreads];
  alignas(64) uint8_t inner_stack[kInnerStackBytes];
  alignas(64) uint8_t outer_stack[kOuterStackBytes];
  alignas(64) uint8_t writer_stack[kWriterStackBytes];
  alignas(64) uint8_t writer_signal_stack[kWriterSignalStackBytes];
  alignas(64) uint8_t rule_cache[256 << 10];
};

inline constexpr uint32_t kWriterRuns = 1;
inline constexpr uint32_t kWriterDone = 2;

// The state of this process; null before install and after uninstall.
CrashState* State();
void SetState(CrashState* state);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_CRASH_STATE_H_
