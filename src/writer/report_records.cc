// SPDX-License-Identifier: Apache-2.0
#include "writer/report_records.h"

#include "format/varint.h"
#include "safe/bytes.h"

namespace cairn::writer {
namespace {

using format::Field;

void PutSignal(RecordWriter* records, const SignalFacts& signal) {
  ScopedGroup group(records, Field::kSignal);
  records->PutUnsigned(Field::kSignalNumber,
                       static_cast<uint32_t>(signal.number));
  records->PutSigned(Field::kSignalCode, signal.code);
  if (signal.error != 0) {
    records->PutSigned(Field::kSignalErrno, signal.error);
  }
  if (signal.has_fault_address) {
    records->PutAddress(Field::kSignalFaultAddress, signal.fault_address);
  }
  if (signal.has_fault_address ||
      signal.fault_kind != format::FaultKind::kNone) {
    records->PutUnsigned(Field::kSignalFaultKind,
                         static_cast<uint64_t>(signal.fault_kind));
  }
  if (signal.has_sender) {
    records->PutUnsigned(Field::kSignalSenderPid, signal.sender_pid);
    records->PutUnsigned(Field::kSignalSenderUid, signal.sender_uid);
  }
  if (signal.has_trap) {
    records->PutUnsigned(Field::kSignalTrap, signal.trap);
    records->PutUnsigned(Field::kSignalTrapError, signal.trap_error);
  }
  if (signal.has_syscall) {
    records->PutSigned(Field::kSignalSyscall, signal.syscall);
  }
}

// Mask of valid registers, mask of changed ones, then the differences.
size_t EncodeRegisters(const capture::Registers& now,
                       capture::Registers* previous,
                       uint8_t* out) {
  const size_t count = format::RegisterNamesOf(now.architecture).count;
  uint64_t changed = 0;
  for (size_t i = 0; i < count; ++i) {
    if ((now.valid >> i & 1) != 0 && now.values[i] != previous->values[i]) {
      changed |= uint64_t{1} << i;
    }
  }
  size_t bytes = format::PutVarint(out, now.valid);
  bytes += format::PutVarint(out + bytes, changed);
  for (size_t i = 0; i < count; ++i) {
    if ((changed >> i & 1) != 0) {
      const auto difference =
          static_cast<int64_t>(now.values[i] - previous->values[i]);
      bytes += format::PutVarint(out + bytes, format::ZigZag(difference));
      previous->values[i] = now.values[i];
    }
  }
  return bytes;
}

}  // namespace

bool PutEvent(RecordWriter* records, const EventFacts& event) {
  ScopedGroup group(records, Field::kEvent);
  if (!group) {
    return false;
  }
  records->PutUnsigned(Field::kEventKind, static_cast<uint64_t>(event.kind));
  records->PutUnsigned(Field::kEventTimeNs, event.time_ns);
  records->PutUnsigned(Field::kEventUptimeMs, event.uptime_ms);
  if (event.process_id != 0) {
    records->PutUnsigned(Field::kEventProcessId, event.process_id);
  }
  if (event.signal != nullptr) {
    PutSignal(records, *event.signal);
  }
  if (event.message != nullptr) {
    records->PutString(
        Field::kEventMessage, event.message, event.message_bytes);
  }
  return true;
}

bool PutEventKind(RecordWriter* records, format::EventKind kind) {
  ScopedGroup group(records, Field::kEvent);
  return group &&
         records->PutUnsigned(Field::kEventKind, static_cast<uint64_t>(kind));
}

bool PutFaultKind(RecordWriter* records, format::FaultKind kind) {
  ScopedGroup event(records, Field::kEvent);
  ScopedGroup signal(records, Field::kSignal);
  return event && signal &&
         records->PutUnsigned(Field::kSignalFaultKind,
                              static_cast<uint64_t>(kind));
}

bool PutException(RecordWriter* records,
                  const char* type,
                  size_t type_bytes,
                  const char* message,
                  size_t message_bytes) {
  ScopedGroup event(records, Field::kEvent);
  ScopedGroup exception(records, Field::kException);
  if (!event || !exception) {
    return false;
  }
  records->PutString(Field::kExceptionTypeMangled, type, type_bytes);
  return message_bytes == 0 ||
         records->PutString(Field::kExceptionMessage, message, message_bytes);
}

bool PutAbortMessage(RecordWriter* records, const char* message, size_t bytes) {
  ScopedGroup event(records, Field::kEvent);
  return event && records->PutString(Field::kAbortMessage, message, bytes);
}

bool PutImage(RecordWriter* records, const capture::Image& image) {
  if (!records->BeginGroup(Field::kImage)) {
    return false;
  }
  const uint32_t dropped = records->dropped();
  records->PutAddress(Field::kImageAddress, image.address);
  records->PutUnsigned(Field::kImageBytes, image.bytes);
  records->PutString(Field::kImagePath, image.path, image.path_bytes);
  if (image.id_bytes != 0) {
    records->PutBytes(Field::kImageId, image.id, image.id_bytes);
  }
  uint8_t segments[capture::kMaxImageSegments * 3 * format::kMaxVarintBytes];
  size_t bytes = 0;
  for (uint32_t i = 0;
       i < image.segment_count && i < capture::kMaxImageSegments;
       ++i) {
    bytes += format::PutVarint(segments + bytes,
                               image.segments[i].address - image.address);
    bytes += format::PutVarint(segments + bytes, image.segments[i].bytes);
    bytes += format::PutVarint(segments + bytes, image.segments[i].flags);
  }
  records->PutPacked(Field::kImageSegments, segments, bytes);
  records->PutSigned(Field::kImageLinkBias,
                     static_cast<int64_t>(image.link_bias));
  if (image.id_derived != 0) {
    records->PutUnsigned(Field::kImageIdIsDerived, 1);
  }
  if (records->dropped() != dropped) {
    records->DropGroup();
    return false;
  }
  records->EndGroup();
  return true;
}

uint32_t PutImages(RecordWriter* records,
                   const capture::ImageTable& table,
                   uint32_t from) {
  const uint32_t count = table.count();
  while (from < count && PutImage(records, table.at(from))) {
    ++from;
  }
  return from;
}

void PutUnloadedImages(RecordWriter* records,
                       const capture::ImageTable& table) {
  const uint32_t count = table.count();
  uint32_t i = 0;
  while (i < count && table.at(i).unloaded == 0) {
    ++i;
  }
  if (i == count) {
    return;
  }
  ScopedGroup group(records, Field::kUnloadedImages);
  for (; group && i < count; ++i) {
    if (table.at(i).unloaded != 0) {
      records->PutUnsigned(Field::kUnloadedImage, i);
    }
  }
}

void PutThreadHead(RecordWriter* records,
                   const ThreadHead& head,
                   capture::Registers* previous) {
  records->PutUnsigned(Field::kThreadId, static_cast<uint32_t>(head.id));
  if (head.name_bytes != 0) {
    records->PutString(Field::kThreadName, head.name, head.name_bytes);
  }
  if (head.crashed) {
    records->PutUnsigned(Field::kThreadCrashed, 1);
  }
  if (head.state != 0) {
    records->PutUnsigned(Field::kThreadState, static_cast<uint8_t>(head.state));
  }
  records->PutUnsigned(Field::kThreadFrozenBy,
                       static_cast<uint64_t>(head.frozen_by));
  if (head.has_cpu_time) {
    records->PutUnsigned(Field::kThreadCpuTimeMs, head.cpu_time_ms);
  }
  if (head.stack.high != 0) {
    records->PutAddress(Field::kThreadStackLow, head.stack.low);
    records->PutAddress(Field::kThreadStackHigh, head.stack.high);
  }
  if (head.registers != nullptr) {
    // The differences below are only good if this record is written: it either
    // fits now, or the report is full and no later thread will follow.
    uint8_t payload[(2 + format::kMaxRegisters) * format::kMaxVarintBytes];
    capture::Registers next = *previous;
    const size_t bytes = EncodeRegisters(*head.registers, &next, payload);
    if (records->PutPacked(Field::kThreadRegisters, payload, bytes)) {
      *previous = next;
    }
  }
}

bool PutThreadFrames(RecordWriter* records,
                     const capture::WalkOutput& walk,
                     const capture::ImageTable& images,
                     FrameTrie* trie,
                     uint8_t* payload) {
  records->PutUnsigned(Field::kThreadWalkEnd, static_cast<uint64_t>(walk.end));
  if (walk.gap_frames != 0) {
    uint8_t gap[2 * format::kMaxVarintBytes];
    size_t bytes = format::PutVarint(gap, walk.gap_position);
    bytes += format::PutVarint(gap + bytes, walk.gap_frames);
    records->PutPacked(Field::kThreadFramesDropped, gap, bytes);
  }
  const size_t bytes = trie->Add(walk.frames, walk.count, images, payload);
  if (!records->PutPacked(Field::kThreadFrames, payload, bytes)) {
    trie->Undo();
    return false;
  }
  return true;
}

bool PutThreadStack(RecordWriter* records,
                    uint64_t address,
                    const void* bytes,
                    size_t count) {
  if (!records->BeginGroup(Field::kThreadStack)) {
    return false;
  }
  records->PutAddress(Field::kThreadStackAddress, address);
  if (!records->PutBytes(Field::kThreadStackBytes, bytes, count)) {
    records->DropGroup();
    return false;
  }
  records->EndGroup();
  return true;
}

void PutCut(RecordWriter* records,
            format::CutWhat what,
            uint64_t kept,
            uint64_t dropped,
            int32_t thread_id) {
  ScopedGroup group(records, Field::kCut);
  records->PutUnsigned(Field::kCutWhat, static_cast<uint64_t>(what));
  records->PutUnsigned(Field::kCutKept, kept);
  records->PutUnsigned(Field::kCutDropped, dropped);
  if (thread_id != 0) {
    records->PutUnsigned(Field::kCutThreadId, static_cast<uint32_t>(thread_id));
  }
}

bool PutStage(RecordWriter* records, const StageFacts& stage) {
  ScopedGroup group(records, Field::kStage);
  if (!group) {
    return false;
  }
  records->PutUnsigned(Field::kStageDone, stage.done);
  records->PutUnsigned(Field::kStageFreeze,
                       static_cast<uint64_t>(stage.freeze));
  if (stage.error != 0) {
    records->PutSigned(Field::kStageErrno, stage.error);
  }
  records->PutUnsigned(Field::kStageElapsedNs, stage.elapsed_ns);
  if (stage.timed_out) {
    records->PutUnsigned(Field::kStageTimedOut, 1);
  }
  return true;
}

}  // namespace cairn::writer
