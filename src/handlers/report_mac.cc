// SPDX-License-Identifier: Apache-2.0
//
// The report, written by the exception thread:
//
//   OpenReport          a slot that is ready, or one made now
//   WriteCrash          event, exception, signal, registers      → commit
//   WriteImages         what the callbacks have noted            → commit
//   WriteOwnStack       frames and stack bytes of the crashed thread → commit
//   CallBack            the app's
//   WriteOthers         freeze → every other thread → thaw       → commit
//   CloseReport
//
// Nothing here calls the loader, and between freeze and thaw nothing but the
// kernel.
#include <unistd.h>

#include "capture/context_mac.h"
#include "capture/macho_image.h"
#include "capture/thread_facts_mac.h"
#include "handlers/crash_state_mac.h"
#include "handlers/mach_fault.h"
#include "safe/bytes.h"
#include "safe/clock.h"
#include "safe/task_memory_mac.h"
#include "writer/near_memory.h"
#include "writer/report_records.h"

namespace cairn::handlers {
namespace {

using format::CutWhat;
using format::Field;
using format::FrozenBy;

constexpr size_t kReservedBytes = 512;  // for cuts and the stage marker
constexpr size_t kExtendBytes = 256 << 10;
constexpr size_t kWantedBytes = 16 << 10;
constexpr uint64_t kStackSpanBytes = 1ull << 30;
constexpr uint64_t kRedZoneBytes = 128;

// What <cairn/cairn.h> calls cairn_crash_info.
struct CrashInfo {
  size_t struct_size;
  int signal_number;
  int signal_code;
  uint64_t fault_address;
  const void* ucontext;
};

// Records begin behind what install wrote, or, in a slot made just now, with
// the facts of install.
void StartRecords(CrashState* state, uint32_t images_in_slot) {
  format::FileHeader* header = state->slot->header;
  const bool prepared = header->install_bytes > sizeof(format::FileHeader);
  state->records =
      writer::RecordWriter(reinterpret_cast<uint8_t*>(header),
                           static_cast<size_t>(prepared ? header->install_bytes
                                                        : header->header_bytes),
                           state->slot->first_bytes,
                           &header->committed_bytes);
  state->records.Reserve(kReservedBytes);
  state->images_written = prepared ? images_in_slot : 0;
  if (!prepared) {
    state->records.PutRecords(state->prefix, state->prefix_bytes);
  }
  state->records.Commit();
}

bool OpenReport(CrashState* state) {
  state->slot = nullptr;
  for (uint32_t i = 0; i < state->slot_count; ++i) {
    if (writer::ClaimSlot(&state->slots[i], state->installer)) {
      state->slot = &state->slots[i];
      StartRecords(state, state->images_in_slot[i]);
      return true;
    }
  }
  if (writer::MakeSlot(state->slot_spec, &state->late_slot) != 0 ||
      !writer::ClaimSlot(&state->late_slot, state->installer)) {
    return false;
  }
  state->slot = &state->late_slot;
  StartRecords(state, 0);
  return true;
}

void PrepareTrie(CrashState* state) {
  if (state->trie_ready) {
    safe::Fill(state->buckets, 0, sizeof(state->buckets));
    safe::Fill(state->rule_cache, 0, sizeof(state->rule_cache));
  }
  state->trie.Init(state->nodes, kTrieNodes, state->buckets, kTrieBuckets);
  state->trie_ready = true;
  state->previous = {};
}

format::FaultKind FaultKindOf(const CrashState& state) {
  MachFault fault = {};
  fault.exception = state.mach.exception;
  fault.code = state.mach.codes[0];
  fault.address = static_cast<uint64_t>(state.mach.codes[1]);
  fault.architecture = state.registers.architecture;
  fault.program_counter = capture::ProgramCounter(state.registers);
  fault.stack_pointer = capture::StackPointer(state.registers);
  fault.stack = state.stack;
  const capture::Region region = capture::RegionAt(fault.address);
  fault.mapped = region.found;
  fault.protection = region.protection;
  fault.tag = region.tag;
  const uint32_t image = state.images->Find(fault.address);
  fault.in_unloaded_image =
      image != capture::kNoImage && state.images->at(image).unloaded != 0;
  return ClassifyMachFault(fault);
}

bool IsAddressed(const CrashState& state) {
  MachFault fault = {};
  fault.exception = state.mach.exception;
  fault.code = state.mach.codes[0];
  fault.architecture = state.registers.architecture;
  return HasFaultAddress(fault);
}

// The signal that the kernel will make of an exception, or the one that came.
void FillSignal(const CrashState& state, writer::SignalFacts* out) {
  *out = {};
  if (state.has_mach) {
    out->number = SignalOf(
        state.mach.exception, state.mach.codes[0], state.mach.codes[1]);
    out->has_fault_address = IsAddressed(state);
    out->fault_address = static_cast<uint64_t>(state.mach.codes[1]);
    out->fault_kind = FaultKindOf(state);
    return;
  }
  const siginfo_t& info = *state.request->siginfo;
  out->number = state.request->signal;
  out->code = info.si_code;
  out->error = info.si_errno;
  out->has_sender = info.si_pid != 0;
  out->sender_pid = static_cast<uint32_t>(info.si_pid);
  out->sender_uid = info.si_uid;
}

void PutMach(CrashState* state) {
  writer::ScopedGroup event(&state->records, Field::kEvent);
  writer::ScopedGroup group(&state->records, Field::kMach);
  state->records.PutUnsigned(Field::kMachException,
                             static_cast<uint32_t>(state->mach.exception));
  state->records.PutSigned(Field::kMachCode, state->mach.codes[0]);
  state->records.PutAddress(Field::kMachSubcode,
                            static_cast<uint64_t>(state->mach.codes[1]));
}

void WriteCrash(CrashState* state, uint64_t thread_id) {
  const bool crash = state->has_mach || state->request->siginfo != nullptr;
  state->stack = capture::StackAround(capture::StackPointer(state->registers));
  writer::SignalFacts signal = {};
  writer::EventFacts event = {};
  if (crash) {
    FillSignal(*state, &signal);
    event.signal = &signal;
  }
  state->has_fault_address = signal.has_fault_address;
  state->fault_address = signal.fault_address;
  event.kind = crash ? format::EventKind::kCrash : state->request->kind;
  event.time_ns = safe::UnixTimeNs();
  event.uptime_ms = (state->entered_ns - state->start_monotonic_ns) / 1000000u;
  if (!state->has_mach) {
    event.message = state->request->message;
    event.message_bytes = state->request->message_bytes;
  }
  writer::PutEvent(&state->records, event);
  if (state->has_mach) {
    PutMach(state);
  }
  writer::ThreadHead head = {};
  capture::ThreadFacts facts = {};
  if (state->thread != MACH_PORT_NULL &&
      capture::ReadThreadFacts(state->thread, &facts)) {
    head.name = facts.name;
    head.name_bytes = facts.name_bytes;
    head.has_cpu_time = true;
    head.cpu_time_ms = facts.cpu_time_ms;
  }
  state->crashed_thread = head.id = static_cast<int32_t>(thread_id);
  head.crashed = crash;
  head.state = 'R';
  head.frozen_by = FrozenBy::kSelf;
  head.registers = &state->registers;
  head.stack = state->stack;
  writer::ScopedGroup group(&state->records, Field::kThread);
  writer::PutThreadHead(&state->records, head, &state->previous);
}

void WriteImages(CrashState* state) {
  state->images_written =
      writer::PutImages(&state->records, *state->images, state->images_written);
  writer::PutUnloadedImages(&state->records, *state->images);
  if (state->images_written < state->images->count()) {
    writer::PutCut(&state->records,
                   CutWhat::kImages,
                   state->images_written,
                   state->images->count() - state->images_written,
                   0);
  }
}

// Walks into the open thread group.
bool PutWalk(CrashState* state,
             const capture::Registers& registers,
             const capture::StackBounds& stack,
             bool crashed,
             int32_t thread_id) {
  capture::WalkInput input = {};
  input.registers = &registers;
  input.memory = input.stack_memory = safe::OwnTaskReader();
  input.images = state->images;
  input.stack = stack;
  input.limits.inner_frames = state->limits.max_frames / 2;
  input.limits.outer_frames =
      state->limits.max_frames - state->limits.max_frames / 2;
  input.cache = reinterpret_cast<capture::RuleCache*>(state->rule_cache);
  input.first_is_fault = crashed;
  capture::WalkOutput walk = {};
  walk.frames = state->frames;
  capture::WalkStack(input, &walk);
  if (!writer::PutThreadFrames(&state->records,
                               walk,
                               *state->images,
                               &state->trie,
                               state->payload)) {
    return false;
  }
  if (walk.gap_frames != 0 && state->records.depth() == 0) {
    writer::PutCut(&state->records,
                   CutWhat::kFrames,
                   walk.count,
                   walk.gap_frames,
                   thread_id);
  }
  return true;
}

void WriteOwnStack(CrashState* state) {
  const uint64_t sp = capture::StackPointer(state->registers);
  capture::StackBounds bounds = state->stack;
  if (bounds.high != 0 && sp < bounds.low) {
    bounds.low = sp;  // an overflow: below its own stack
  }
  {
    writer::ScopedGroup group(&state->records, Field::kThread);
    state->records.PutUnsigned(Field::kThreadId,
                               static_cast<uint32_t>(state->crashed_thread));
    PutWalk(state,
            state->registers,
            bounds,
            state->has_mach || state->request->siginfo != nullptr,
            state->crashed_thread);
  }
  writer::PutStage(
      &state->records,
      {1, FrozenBy::kSelf, 0, safe::MonotonicNs() - state->entered_ns, false});
  state->records.Commit();
  size_t bytes = state->limits.stack_bytes;
  bytes = bytes < kInnerStackBytes ? bytes : kInnerStackBytes;
  const size_t quarter = state->records.remaining() / 4;
  bytes = bytes < quarter ? bytes : quarter;
  const uint64_t from = sp > kRedZoneBytes ? sp - kRedZoneBytes : sp;
  const size_t got = bytes == 0 ? 0
                                : safe::OwnTaskReader().ReadSome(
                                      from, state->inner_stack, bytes);
  state->told_stack = {0, 0};
  state->memory_bytes = 0;
  if (got != 0) {
    writer::ScopedGroup group(&state->records, Field::kThread);
    state->records.PutUnsigned(Field::kThreadId,
                               static_cast<uint32_t>(state->crashed_thread));
    if (writer::PutThreadStack(
            &state->records, from, state->inner_stack, got)) {
      state->told_stack = {from, from + got};
    }
  }
}

// The last words of libsystem_c, dyld, Swift: each in its own image.
void WriteLastWords(CrashState* state) {
  char text[1024];
  const safe::MemoryReader memory = safe::OwnTaskReader();
  const uint32_t count = state->images->count();
  for (uint32_t i = 0; i < count; ++i) {
    const capture::Image& image = state->images->at(i);
    for (int second = 0; image.crash_info != 0 && second < 2; ++second) {
      const uint64_t at = capture::CrashInfoMessage(memory, image, second != 0);
      const size_t got = at == 0 ? 0 : memory.ReadSome(at, text, sizeof(text));
      size_t bytes = safe::Length(text, got);
      while (bytes > 0 && text[bytes - 1] == '\n') {
        --bytes;
      }
      if (bytes > 0) {
        writer::PutAbortMessage(&state->records, text, bytes);
        return;
      }
    }
  }
}

void WriteSayings(CrashState* state) {
  const ExceptionFacts& exception = state->exception;
  if (exception.thread_id != 0 &&
      exception.thread_id == static_cast<uint32_t>(state->crashed_thread)) {
    writer::PutException(&state->records,
                         exception.type,
                         exception.type_bytes,
                         exception.message,
                         exception.message_bytes);
  }
  WriteLastWords(state);
  if (state->annotations != nullptr) {
    writer::PutAnnotations(&state->records, *state->annotations);
  }
  state->records.Commit();
}

void CallBack(CrashState* state) {
  if (state->on_crash == nullptr) {
    return;
  }
  const bool mach = state->has_mach;
  const CrashInfo facts = {
      sizeof(CrashInfo),
      mach ? SignalOf(state->mach.exception, state->mach.codes[0], 0)
           : state->request->signal,
      mach ? 0 : state->request->siginfo->si_code,
      mach && IsAddressed(*state) ? static_cast<uint64_t>(state->mach.codes[1])
                                  : 0,
      mach ? nullptr : state->request->ucontext};
  state->on_crash(&facts, state->on_crash_context);
}

void MakeRoom(CrashState* state) {
  if (state->records.remaining() >= kWantedBytes) {
    return;
  }
  const size_t end = state->records.capacity();
  size_t next = end + kExtendBytes;
  next = next < state->slot->total_bytes ? next : state->slot->total_bytes;
  if (next > end && writer::PopulateSecondPart(*state->slot, end, next)) {
    state->records.Extend(next);
  }
}

bool WriteThread(CrashState* state, const capture::FrozenThread& thread) {
  MakeRoom(state);
  capture::ThreadFacts facts = {};
  capture::Registers registers;
  const bool readable = capture::ReadThreadRegisters(thread.port, &registers);
  if (!capture::ReadThreadFacts(thread.port, &facts) && !readable) {
    return true;  // it has ended meanwhile
  }
  writer::ScopedGroup group(&state->records, Field::kThread);
  if (!group) {
    return false;
  }
  writer::ThreadHead head = {};
  head.id = static_cast<int32_t>(thread.id);
  head.name = facts.name;
  head.name_bytes = facts.name_bytes;
  head.state = facts.state;
  head.frozen_by = thread.suspended != 0 ? FrozenBy::kMach : FrozenBy::kNone;
  head.has_cpu_time = true;
  head.cpu_time_ms = facts.cpu_time_ms;
  head.registers = readable ? &registers : nullptr;
  writer::PutThreadHead(&state->records, head, &state->previous);
  const uint64_t sp = capture::StackPointer(registers);
  return !readable || PutWalk(state,
                              registers,
                              {sp - kRedZoneBytes, sp + kStackSpanBytes},
                              false,
                              head.id);
}

void WriteOthers(CrashState* state) {
  state->freeze = capture::Freeze(state->frozen, kMaxThreads);
  capture::Freeze& freeze = state->freeze;
  freeze.StopAll(state->own_threads,
                 kOwnThreads,
                 static_cast<uint32_t>(state->crashed_thread));
  size_t written = 0;
  for (size_t i = 0; i < freeze.count(); ++i) {
    if (static_cast<int32_t>(freeze.at(i).id) == state->crashed_thread) {
      continue;
    }
    if (!WriteThread(state, freeze.at(i))) {
      writer::PutCut(&state->records,
                     CutWhat::kThreads,
                     written + 1,
                     freeze.count() - 1 - written,
                     0);
      break;
    }
    ++written;
    state->records.Commit();
  }
  if (freeze.not_listed() != 0) {
    writer::PutCut(&state->records,
                   CutWhat::kThreads,
                   written + 1,
                   freeze.not_listed(),
                   0);
  }
  state->records.Reserve(0);
  writer::PutStage(&state->records,
                   {2,
                    freeze.suspended() != 0 ? FrozenBy::kMach : FrozenBy::kNone,
                    freeze.error(),
                    safe::MonotonicNs() - state->entered_ns,
                    false});
  state->records.Commit();
  if (state->limits.stack_bytes != 0) {
    MakeRoom(state);
    writer::PutNearMemory(&state->records,
                          {&state->registers,
                           state->has_fault_address,
                           state->fault_address,
                           state->told_stack},
                          safe::OwnTaskReader(),
                          &state->memory_bytes);
  }
}

}  // namespace

void WriteReport(CrashState* state, uint64_t thread_id) {
  state->entered_ns = safe::MonotonicNs();
  if (!OpenReport(state)) {
    return;
  }
  PrepareTrie(state);
  WriteCrash(state, thread_id);
  state->records.Commit();
  WriteImages(state);
  state->records.Commit();
  WriteOwnStack(state);
  WriteSayings(state);
  if (state->stop_point != StopPoint::kAfterFirstStage) {
    if (state->has_mach || state->request->siginfo != nullptr) {
      CallBack(state);
    }
    WriteOthers(state);
  }
  // Closed while the others stand still: one of them may end the process.
  writer::FinishSlot(state->slot, state->slot_spec.directory, 0);
  state->freeze.Thaw();
}

void SealReport(CrashState* state, bool timed_out) {
  if (state->slot == nullptr) {
    return;
  }
  state->records.Rewind();
  state->records.Reserve(0);
  writer::PutStage(&state->records,
                   {1,
                    FrozenBy::kNone,
                    0,
                    safe::MonotonicNs() - state->entered_ns,
                    timed_out});
  if (timed_out) {
    writer::PutCut(&state->records, CutWhat::kTime, 1, 0, 0);
  }
  state->records.Commit();
  writer::FinishSlot(state->slot, state->slot_spec.directory, 0);
}

}  // namespace cairn::handlers
