// SPDX-License-Identifier: Apache-2.0
//
// The groups of a report, each written by one function.
//
// Crash time: yes. Groups that do not fit are left out whole and counted by the
// RecordWriter. The fields and their meaning: format/report_format.h.
#ifndef CAIRN_WRITER_REPORT_RECORDS_H_
#define CAIRN_WRITER_REPORT_RECORDS_H_

#include "capture/image_table.h"
#include "capture/registers.h"
#include "capture/unwinder.h"
#include "writer/frame_trie.h"
#include "writer/record_writer.h"

namespace cairn::writer {

struct SignalFacts {
  int32_t number;
  int32_t code;
  int32_t error;
  bool has_fault_address;
  bool has_sender;
  bool has_trap;
  bool has_syscall;
  uint64_t fault_address;
  format::FaultKind fault_kind;
  uint32_t sender_pid, sender_uid;
  uint64_t trap, trap_error;
  int32_t syscall;
};

struct EventFacts {
  format::EventKind kind;
  uint64_t time_ns;
  uint64_t uptime_ms;
  uint32_t process_id;        // 0: the installer's
  const SignalFacts* signal;  // null: none
  const char* message;        // null: none; `message_bytes` long
  size_t message_bytes;
};
bool PutEvent(RecordWriter* records, const EventFacts& event);

// A later word on the same event: how it ended, and what the runtime said.
bool PutEventKind(RecordWriter* records, format::EventKind kind);
bool PutFaultKind(RecordWriter* records, format::FaultKind kind);
bool PutException(RecordWriter* records,
                  const char* type,
                  size_t type_bytes,
                  const char* message,
                  size_t message_bytes);
bool PutAbortMessage(RecordWriter* records, const char* message, size_t bytes);

bool PutImage(RecordWriter* records, const capture::Image& image);
// Images [from, table.count()) and the index of every unloaded one; returns the
// new `from`. Stops at the first that does not fit.
uint32_t PutImages(RecordWriter* records,
                   const capture::ImageTable& table,
                   uint32_t from);
void PutUnloadedImages(RecordWriter* records, const capture::ImageTable& table);

struct ThreadHead {
  int32_t id;
  const char* name;
  size_t name_bytes;
  bool crashed;
  char state;  // 0: unknown
  format::FrozenBy frozen_by;
  bool has_cpu_time;
  uint64_t cpu_time_ms;
  const capture::Registers* registers;  // null: none
  capture::StackBounds stack;
};
// Writes id, name, state and registers into the open kThread group. `previous`
// are the registers of the thread before, against which these are told; it is
// brought up to date.
void PutThreadHead(RecordWriter* records,
                   const ThreadHead& head,
                   capture::Registers* previous);

// Frames, end and gap into the open kThread group. `payload` is scratch of
// FrameTrie::PayloadBytes(walk.count). False when the frames found no room.
bool PutThreadFrames(RecordWriter* records,
                     const capture::WalkOutput& walk,
                     const capture::ImageTable& images,
                     FrameTrie* trie,
                     uint8_t* payload);

bool PutThreadStack(RecordWriter* records,
                    uint64_t address,
                    const void* bytes,
                    size_t count);

void PutCut(RecordWriter* records,
            format::CutWhat what,
            uint64_t kept,
            uint64_t dropped,
            int32_t thread_id);

struct StageFacts {
  uint32_t done;
  format::FrozenBy freeze;
  int32_t error;
  uint64_t elapsed_ns;
  bool timed_out;
};
bool PutStage(RecordWriter* records, const StageFacts& stage);

}  // namespace cairn::writer

#endif  // CAIRN_WRITER_REPORT_RECORDS_H_
