// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include "capture/context_linux.h"
#include "capture/thread_list_linux.h"
#include "handlers/fault_kind_linux.h"
#include "handlers/stages_linux.h"
#include "safe/bytes.h"
#include "safe/guarded_memory.h"
#include "safe/syscall_linux.h"
#include "writer/report_records.h"
#include "writer/slot_file.h"

namespace cairn::handlers {
namespace {

using format::CutWhat;
using format::Field;

constexpr size_t kReservedBytes = 512;   // for cuts and the stage marker
constexpr uint64_t kRedZoneBytes = 128;  // psABI: below rsp, still in use
constexpr uint64_t kNearSpBytes = 1 << 20;

// A reader of the crashed stack: the private copy where it reaches, else
// guarded.
size_t ReadStack(void* context, uint64_t address, void* out, size_t bytes) {
  const auto* state = static_cast<const CrashState*>(context);
  if (address >= state->copy_low && address < state->copy_high &&
      bytes <= state->copy_high - address) {
    safe::Copy(out, state->inner_stack + (address - state->copy_low), bytes);
    return bytes;
  }
  if (address >= state->outer_low && address < state->outer_high &&
      bytes <= state->outer_high - address) {
    safe::Copy(out, state->outer_stack + (address - state->outer_low), bytes);
    return bytes;
  }
  return safe::GuardedReader().read_some(nullptr, address, out, bytes);
}

void CopyStack(CrashState* state) {
  const uint64_t sp = capture::StackPointer(state->registers);
  const uint64_t low = state->stack.high != 0 && sp < state->stack.low
                           ? state->stack.low
                           : (sp > kRedZoneBytes ? sp - kRedZoneBytes : sp);
  size_t bytes = kInnerStackBytes;
  if (state->stack.high > low && state->stack.high - low < bytes) {
    bytes = static_cast<size_t>(state->stack.high - low);
  }
  const size_t got =
      safe::GuardedReader().ReadSome(low, state->inner_stack, bytes);
  state->copy_low = low;
  state->copy_high = low + got;
  state->outer_low = state->outer_high = 0;
  if (state->stack.high > state->copy_high && got == kInnerStackBytes) {
    const uint64_t outer =
        state->stack.high - state->copy_high < kOuterStackBytes
            ? state->copy_high
            : state->stack.high - kOuterStackBytes;
    const auto outer_bytes = static_cast<size_t>(state->stack.high - outer);
    state->outer_low = outer;
    state->outer_high = outer + safe::GuardedReader().ReadSome(
                                    outer, state->outer_stack, outer_bytes);
  }
}

void PrepareTrie(CrashState* state) {
  // A former report of this run has used the tables.
  if (state->trie_ready) {
    safe::Fill(state->buckets, 0, sizeof(state->buckets));
  }
  state->trie.Init(state->nodes, kTrieNodes, state->buckets, kTrieBuckets);
  state->trie_ready = true;
  state->previous = {};
}

// Step (a): what died, with which registers.
void WriteEventAndRegisters(CrashState* state,
                            const Occasion& occasion,
                            writer::SignalFacts* signal) {
  const bool has_signal = state->siginfo != nullptr;
  if (has_signal) {
    ReadSignalFacts(state->signal, state->siginfo, state->ucontext, signal);
  }
  writer::EventFacts event{};
  event.kind = occasion.kind;
  event.time_ns = safe::UnixTimeNs();
  event.uptime_ms = (state->entered_ns - state->start_monotonic_ns) / 1000000u;
  event.process_id =
      state->foreign_process ? static_cast<uint32_t>(state->process_id) : 0;
  event.signal = has_signal ? signal : nullptr;
  event.message = occasion.message;
  event.message_bytes = occasion.message_bytes;
  writer::PutEvent(&state->records, event);

  writer::ThreadHead head{};
  head.id = state->crashed_thread;
  capture::ThreadFacts facts{};
  constexpr long kGetName = 16;  // PR_GET_NAME
  if (safe::SystemCall(SYS_prctl, kGetName, safe::AsLong(facts.name)) == 0) {
    head.name_bytes = safe::Length(facts.name, sizeof(facts.name));
  } else if (capture::ReadThreadFacts(
                 state->process_id, state->crashed_thread, &facts)) {
    head.name_bytes = facts.name_bytes;
  }
  head.name = facts.name;
  head.crashed = has_signal;
  head.state = 'R';
  head.frozen_by = format::FrozenBy::kSelf;
  head.registers = &state->registers;
  writer::ScopedGroup group(&state->records, Field::kThread);
  writer::PutThreadHead(&state->records, head, &state->previous);
}

// Step (c): the thread's own frames, behind its head: a second group of the
// same id.
void WriteOwnFrames(CrashState* state) {
  capture::WalkInput input{};
  input.registers = &state->registers;
  input.memory = safe::GuardedReader();
  input.stack_memory = {&ReadStack, state};
  input.images = state->images;
  input.stack = state->stack;
  const uint64_t sp = capture::StackPointer(state->registers);
  if (sp < state->stack.low && state->stack.low - sp < kNearSpBytes) {
    input.stack.low =
        sp;  // an overflow: the stack pointer is below its own stack
  }
  input.limits.inner_frames = state->limits.max_frames / 2;
  input.limits.outer_frames =
      state->limits.max_frames - state->limits.max_frames / 2;
  input.first_is_fault = state->siginfo != nullptr;
  capture::WalkOutput walk{};
  walk.frames = state->frames;
  capture::WalkStack(input, &walk);
  {
    writer::ScopedGroup group(&state->records, Field::kThread);
    state->records.PutUnsigned(Field::kThreadId,
                               static_cast<uint32_t>(state->crashed_thread));
    if (state->stack.high != 0) {
      state->records.PutAddress(Field::kThreadStackLow, state->stack.low);
      state->records.PutAddress(Field::kThreadStackHigh, state->stack.high);
    }
    writer::PutThreadFrames(
        &state->records, walk, *state->images, &state->trie, state->payload);
  }
  if (walk.gap_frames != 0) {
    writer::PutCut(&state->records,
                   CutWhat::kFrames,
                   walk.count,
                   walk.gap_frames,
                   state->crashed_thread);
  }
}

void WriteStackBytes(CrashState* state) {
  state->told_stack = {0, 0};
  state->memory_bytes = 0;
  if (state->limits.stack_bytes == 0 || state->copy_high <= state->copy_low) {
    return;
  }
  const uint64_t sp = capture::StackPointer(state->registers);
  const uint64_t from =
      sp > state->copy_low && sp < state->copy_high ? sp : state->copy_low;
  const auto available = static_cast<size_t>(state->copy_high - from);
  size_t bytes = available < state->limits.stack_bytes
                     ? available
                     : state->limits.stack_bytes;
  // Threads are worth more than bytes: a quarter of what is left at the most.
  if (bytes > state->records.remaining() / 4) {
    bytes = state->records.remaining() / 4;
  }
  writer::ScopedGroup group(&state->records, Field::kThread);
  state->records.PutUnsigned(Field::kThreadId,
                             static_cast<uint32_t>(state->crashed_thread));
  if (writer::PutThreadStack(&state->records,
                             from,
                             state->inner_stack + (from - state->copy_low),
                             bytes)) {
    state->told_stack = {from, from + bytes};
  }
}

// Starts the records behind what install wrote, or, in a slot that another
// process prepared or that was made just now, from the header on.
void StartRecords(CrashState* state, bool prepared, uint32_t images_in_slot) {
  format::FileHeader* header = state->slot->header;
  const size_t start = prepared ? static_cast<size_t>(header->install_bytes)
                                : static_cast<size_t>(header->header_bytes);
  state->records = writer::RecordWriter(reinterpret_cast<uint8_t*>(header),
                                        start,
                                        state->slot->first_bytes,
                                        &header->committed_bytes);
  state->records.Reserve(kReservedBytes);
  state->images_written = prepared ? images_in_slot : 0;
  if (!prepared) {
    state->records.PutRecords(state->prefix, state->prefix_bytes);
  }
  state->records.Commit();
}

format::ProcessIdentity OwnIdentity(CrashState* state) {
  format::ProcessIdentity own = state->installer;
  if (state->foreign_process) {
    own.pid = static_cast<uint32_t>(state->process_id);
    own.start_ticks = capture::ReadStartTicks(state->process_id);
  }
  return own;
}

// Closes a descriptor of ours; false when the app has put another in its place.
bool GiveUp(int32_t fd, uint64_t device, uint64_t inode) {
  writer::FileIdentity now;
  if (fd < 0 || !writer::IdentifyFile(fd, &now) || now.device != device ||
      now.inode != inode) {
    return false;
  }
  safe::SystemCall(SYS_close, fd);
  return true;
}

// With every descriptor used no slot can be made and nothing of /proc be read:
// the directory's own makes room, or the slot's. Their paths still serve for
// the report's last name.
void MakeRoomForDescriptor(CrashState* state) {
  constexpr long kErrnoNoDescriptor = 24;  // EMFILE
  const long probe = safe::SystemCall(
      SYS_openat, AT_FDCWD, safe::AsLong("/"), O_PATH | O_CLOEXEC);
  if (probe >= 0) {
    safe::SystemCall(SYS_close, probe);
  }
  if (probe != -kErrnoNoDescriptor) {
    return;
  }
  const writer::SlotDirectory& directory = state->slot_spec.directory;
  if (!GiveUp(directory.fd, directory.device, directory.inode) &&
      state->slot != nullptr) {
    GiveUp(state->slot->fd, state->slot->device, state->slot->inode);
  }
}

}  // namespace

bool OpenReport(CrashState* state) {
  const format::ProcessIdentity own = OwnIdentity(state);
  for (uint32_t i = 0; i < state->slot_count; ++i) {
    if (writer::ClaimSlot(&state->slots[i], own)) {
      state->slot = &state->slots[i];
      StartRecords(
          state,
          !state->foreign_process &&
              state->slot->header->install_bytes > sizeof(format::FileHeader),
          state->images_in_slot[i]);
      return true;
    }
  }
  MakeRoomForDescriptor(state);
  writer::SlotSpec spec = state->slot_spec;
  spec.installer = own;
  if (writer::MakeSlot(spec, &state->late_slot) != 0 ||
      !writer::ClaimSlot(&state->late_slot, own)) {
    return false;
  }
  state->slot = &state->late_slot;
  StartRecords(state, false, 0);
  return true;
}

void WriteFirstStage(CrashState* state, const Occasion& occasion) {
  PrepareTrie(state);
  writer::SignalFacts signal{};
  WriteEventAndRegisters(state, occasion, &signal);
  state->records.Commit();

  // The table has one writer at a time; a thread that was in the middle of it
  // will never finish, and what it has appended is good.
  uint32_t idle = 0;
  if (__atomic_compare_exchange_n(&state->images_busy,
                                  &idle,
                                  1,
                                  false,
                                  __ATOMIC_ACQUIRE,
                                  __ATOMIC_RELAXED)) {
    capture::RefreshImages(
        state->images, state->vectors, safe::GuardedReader());
    __atomic_store_n(&state->images_busy, 0, __ATOMIC_RELEASE);
  }
  state->images_written =
      writer::PutImages(&state->records, *state->images, state->images_written);
  writer::PutUnloadedImages(&state->records, *state->images);
  state->records.Commit();

  const format::FaultKind kind = signal.fault_kind;
  MakeRoomForDescriptor(state);
  LookAround(*state, &signal, &state->stack);
  if (signal.fault_kind != kind) {
    writer::PutFaultKind(&state->records, signal.fault_kind);
  }
  state->has_fault_address = signal.has_fault_address;
  state->fault_address = signal.fault_address;
  CopyStack(state);
  WriteOwnFrames(state);
  if (state->images_written < state->images->count()) {
    writer::PutCut(&state->records,
                   CutWhat::kImages,
                   state->images_written,
                   state->images->count() - state->images_written,
                   0);
  }
  writer::PutStage(&state->records,
                   {1,
                    format::FrozenBy::kSelf,
                    0,
                    safe::MonotonicNs() - state->entered_ns,
                    false});
  state->records.Commit();
  WriteStackBytes(state);
  state->records.Commit();
}

void WriteSayings(CrashState* state) {
  const ExceptionFacts& exception = state->exception;
  if (exception.thread_id == static_cast<uint32_t>(state->crashed_thread)) {
    writer::PutException(&state->records,
                         exception.type,
                         exception.type_bytes,
                         exception.message,
                         exception.message_bytes);
  }
  // glibc keeps {unsigned size; char text[]}, the pointer null before the first
  // (assert/assert.c, sysdeps/posix/libc_fatal.c).
  uint64_t kept = 0;
  const safe::MemoryReader memory = safe::GuardedReader();
  if (state->abort_message != nullptr &&
      memory.ReadValue(reinterpret_cast<uint64_t>(state->abort_message),
                       &kept) &&
      kept != 0) {
    char text[1024];
    const size_t got = memory.ReadSome(kept + 4, text, sizeof(text));
    size_t bytes = safe::Length(text, got);
    while (bytes > 0 && text[bytes - 1] == '\n') {
      --bytes;
    }
    if (bytes > 0) {
      writer::PutAbortMessage(&state->records, text, bytes);
    }
  }
  if (state->annotations != nullptr) {
    writer::PutAnnotations(&state->records, *state->annotations);
  }
  state->records.Commit();
  state->said = true;
}

void CloseReport(CrashState* state) {
  writer::FinishSlot(state->slot, state->slot_spec.directory, 0);
}

}  // namespace cairn::handlers
