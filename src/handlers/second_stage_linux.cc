// SPDX-License-Identifier: Apache-2.0
#include "capture/context_linux.h"
#include "capture/freeze_linux.h"
#include "capture/thread_list_linux.h"
#include "handlers/stages_linux.h"
#include "safe/bytes.h"
#include "safe/guarded_memory.h"
#include "safe/syscall_linux.h"
#include "writer/near_memory.h"
#include "writer/report_records.h"

namespace cairn::handlers {
namespace {

using format::CutWhat;
using format::Field;
using format::FrozenBy;

// A thread that has not stopped by then waits for something that the freeze
// itself may hold up; its stack pointer is asked from /proc instead.
constexpr uint64_t kStopLimitNs = 500 * 1000000ull;
// For answers to a directed signal; a thread that blocks it gives none.
constexpr uint64_t kParkLimitNs = 200 * 1000000ull;
constexpr uint64_t kParkLimitPerThreadNs = 50000;
constexpr size_t kExtendBytes = 256 << 10;
constexpr uint64_t kStackSpanBytes = 1ull << 30;

const AlsoCrashed* FindAlsoCrashed(const CrashState& state, int32_t id) {
  const uint32_t count =
      __atomic_load_n(&state.also_crashed_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count && i < kMaxAlsoCrashed; ++i) {
    if (state.also_crashed[i].thread_id == id &&
        state.also_crashed[i].ucontext != nullptr) {
      return &state.also_crashed[i];
    }
  }
  return nullptr;
}

// Room for another thread: when the first part is nearly full the sparse part
// follows piece by piece, as far as the disk goes.
void MakeRoom(CrashState* state) {
  constexpr size_t kWanted = 16 << 10;
  if (state->records.remaining() >= kWanted) {
    return;
  }
  const size_t end = state->records.capacity();
  size_t next = end + kExtendBytes;
  if (next > state->slot->total_bytes) {
    next = state->slot->total_bytes;
  }
  if (next > end && writer::PopulateSecondPart(*state->slot, end, next)) {
    state->records.Extend(next);
  }
}

struct ThreadState {
  FrozenBy frozen_by = FrozenBy::kNone;
  bool has_registers = false;
  bool crashed = false;
  char state = 0;
  char name[16] = {};  // as the thread itself has it, when it was asked
  capture::Registers registers{};
};

void ReadThreadState(CrashState* state,
                     const capture::Freeze& freeze,
                     size_t index,
                     ThreadState* out) {
  const int32_t id = freeze.at(index).id;
  const AlsoCrashed* crashed = FindAlsoCrashed(*state, id);
  const ParkRequest* parked = FindParked(*state, id);
  if (freeze.ReadRegisters(index, &out->registers, &out->state)) {
    out->frozen_by = FrozenBy::kPtrace;
    out->has_registers = true;
    out->crashed = freeze.PendingFault(index) != 0;
  } else if (crashed != nullptr) {
    out->frozen_by = FrozenBy::kSelf;  // it waits in its own crash
  } else if (parked != nullptr) {
    capture::RegistersFromUcontext(parked->ucontext, &out->registers);
    out->frozen_by = FrozenBy::kSignal;
    out->has_registers = true;
    safe::Copy(out->name, parked->name, sizeof(out->name));
  } else {
    uint64_t sp = 0, pc = 0;
    if (capture::ReadSleepingThread(state->process_id, id, &sp, &pc)) {
      const capture::RegisterRoles roles =
          capture::RolesOf(format::Architecture::kX86_64);
      out->registers.architecture = format::Architecture::kX86_64;
      out->registers.Set(roles.stack_pointer, sp);
      out->registers.Set(roles.program_counter, pc);
      out->frozen_by = FrozenBy::kProc;
      out->has_registers = true;
    }
  }
  if (crashed != nullptr) {
    capture::RegistersFromUcontext(crashed->ucontext, &out->registers);
    out->has_registers = out->crashed = true;
  }
}

bool WriteThread(CrashState* state,
                 const capture::Freeze& freeze,
                 size_t index) {
  MakeRoom(state);
  const int32_t id = freeze.at(index).id;
  ThreadState thread;
  ReadThreadState(state, freeze, index, &thread);
  capture::ThreadFacts facts{};
  const bool has_facts =
      capture::ReadThreadFacts(state->process_id, id, &facts);
  if (!has_facts && !thread.has_registers) {
    return true;  // it has ended meanwhile
  }
  writer::ScopedGroup group(&state->records, Field::kThread);
  if (!group) {
    return false;
  }
  writer::ThreadHead head{};
  head.id = id;
  head.name = has_facts ? facts.name : thread.name;
  head.name_bytes = has_facts ? facts.name_bytes
                              : safe::Length(thread.name, sizeof(thread.name));
  head.crashed = thread.crashed;
  head.state = thread.state != 0 ? thread.state : facts.state;
  head.frozen_by = thread.frozen_by;
  head.has_cpu_time = has_facts;
  head.cpu_time_ms = facts.cpu_time_ms;
  head.registers = thread.has_registers ? &thread.registers : nullptr;
  writer::PutThreadHead(&state->records, head, &state->previous);
  if (!thread.has_registers) {
    return true;
  }
  capture::WalkInput input{};
  input.registers = &thread.registers;
  input.memory = input.stack_memory = safe::GuardedReader();
  input.images = state->images;
  const uint64_t sp = capture::StackPointer(thread.registers);
  input.stack = {sp - 128, sp + kStackSpanBytes};
  input.limits.inner_frames = state->limits.max_frames / 2;
  input.limits.outer_frames =
      state->limits.max_frames - state->limits.max_frames / 2;
  input.cache = reinterpret_cast<capture::RuleCache*>(state->rule_cache);
  input.first_is_fault = thread.crashed;
  capture::WalkOutput walk{};
  walk.frames = state->frames;
  capture::WalkStack(input, &walk);
  return writer::PutThreadFrames(
      &state->records, walk, *state->images, &state->trie, state->payload);
}

void WriteThreads(CrashState* state, const capture::Freeze& freeze) {
  size_t written = 0;
  for (size_t i = 0; i < freeze.count(); ++i) {
    if (freeze.at(i).id == state->crashed_thread) {
      continue;
    }
    if (!WriteThread(state, freeze, i)) {
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
}

FrozenBy HowFrozen(const CrashState& state, const capture::Freeze& freeze) {
  for (size_t i = 0; i < freeze.count(); ++i) {
    if (freeze.at(i).stopped != 0) {
      return FrozenBy::kPtrace;
    }
  }
  if (__atomic_load_n(&state.park_answers, __ATOMIC_ACQUIRE) != 0) {
    return FrozenBy::kSignal;
  }
  return freeze.count() > 1 ? FrozenBy::kProc : FrozenBy::kNone;
}

// Threads that ptrace may not have are asked by a signal. One that ptrace holds
// but that has not stopped waits in the kernel and would not answer.
void ParkTheRest(CrashState* state, const capture::Freeze& freeze) {
  size_t count = 0;
  for (size_t i = 0; i < freeze.count(); ++i) {
    const capture::FrozenThread& thread = freeze.at(i);
    if (thread.seized == 0 && thread.id != state->crashed_thread &&
        FindAlsoCrashed(*state, thread.id) == nullptr) {
      state->ids_to_park[count++] = thread.id;
    }
  }
  if (count != 0) {
    AskToPark(
        state,
        state->ids_to_park,
        count,
        safe::MonotonicNs() + kParkLimitNs + count * kParkLimitPerThreadNs);
  }
}

// In the writer process alone: memory whose pages never come must not hold up
// the crashed thread.
void WriteNearMemory(CrashState* state) {
  if (state->may_ptrace && state->limits.stack_bytes != 0) {
    MakeRoom(state);
    writer::PutNearMemory(&state->records,
                          {&state->registers,
                           state->has_fault_address,
                           state->fault_address,
                           state->told_stack},
                          safe::GuardedReader(),
                          &state->memory_bytes);
  }
}

}  // namespace

void WriteSecondStage(CrashState* state) {
  capture::Freeze freeze(
      state->process_id, state->frozen, state->thread_ids, kMaxThreads);
  const uint64_t stop_deadline = safe::MonotonicNs() + kStopLimitNs;
  const capture::ThreadHints hints{
      state->known_threads, kMaxKnownThreads, state->newest_id};
  if (state->may_ptrace) {
    freeze.StopAll(state->crashed_thread, stop_deadline, hints);
  } else {
    freeze.ListAll(hints);
  }
  __atomic_store_n(&state->threads_seen,
                   static_cast<uint32_t>(freeze.count()),
                   __ATOMIC_RELEASE);
  state->images_written =
      writer::PutImages(&state->records, *state->images, state->images_written);
  WriteSayings(state);
  ParkTheRest(state, freeze);
  const FrozenBy how = HowFrozen(*state, freeze);
  state->second_stage_ran = true;
  WriteThreads(state, freeze);
  state->records.Reserve(0);
  writer::PutStage(
      &state->records,
      {2, how, freeze.error(), safe::MonotonicNs() - state->entered_ns, false});
  state->records.Commit();
  state->threads_written = true;
  WriteNearMemory(state);
  if (!state->may_ptrace) {
    return;
  }
  __atomic_store_n(&state->writer_word, kWriterDone, __ATOMIC_RELEASE);
  safe::FutexWakeAll(&state->writer_word);
  const uint64_t deadline = state->deadline_ns + kStopLimitNs;
  while (__atomic_load_n(&state->may_thaw, __ATOMIC_ACQUIRE) == 0) {
    if (safe::FutexWaitUntil(&state->may_thaw, 0, deadline) != 0 &&
        safe::MonotonicNs() >= deadline) {
      break;
    }
  }
  freeze.Thaw();
}

}  // namespace cairn::handlers
