// SPDX-License-Identifier: Apache-2.0
#include "report/record_walker.h"

#include "format/varint.h"
#include "safe/crc32c.h"

namespace cairn::report {
namespace {

using format::Kind;

const char* FieldName(uint16_t field) {
  const FieldInfo* info = FindField(field);
  return info != nullptr ? info->name : "a group of a later version";
}

// Decodes a number that fills the payload.
bool Number(const Record& record, uint64_t* number) {
  return record.bytes > 0 &&
         format::GetVarint(record.payload, record.bytes, number) ==
             record.bytes;
}

uint32_t StoredChecksum(const uint8_t* in) {
  return static_cast<uint32_t>(in[0]) | static_cast<uint32_t>(in[1]) << 8 |
         static_cast<uint32_t>(in[2]) << 16 |
         static_cast<uint32_t>(in[3]) << 24;
}

}  // namespace

void RecordWalker::Walk(size_t begin, size_t end) {
  RecordCursor cursor(file_, begin, end);
  Record record;
  RecordCursor::Step step;
  while ((step = cursor.Next(&record)) == RecordCursor::Step::kRecord) {
    Handle(record);
  }
  const size_t left = end - cursor.position();
  if (step == RecordCursor::Step::kCut) {
    problems_->Add(cursor.position(),
                   "a record is cut; ",
                   left,
                   " bytes from here on are lost");
  } else if (step == RecordCursor::Step::kZero) {
    problems_->Add(cursor.position(),
                   left,
                   " bytes are missing: zeros instead of records");
  }
  CloseUnfinished(0, end);
  excess_depth_ = 0;
}

void RecordWalker::Handle(const Record& record) {
  const Kind kind = static_cast<Kind>(record.kind);
  const FieldInfo* info = FindField(record.field);
  if (kind == Kind::kGroupEnd) {
    End(record);
    return;
  }
  if (excess_depth_ > 0) {
    excess_depth_ += kind == Kind::kGroupBegin ? 1 : 0;
    return;
  }
  if (info != nullptr && info->kind != kind) {
    problems_->Add(
        record.offset, FieldName(record.field), " has the wrong kind");
    info = nullptr;
  }
  if (kind == Kind::kGroupBegin) {
    Begin(record, info);
  } else if (info != nullptr && Place(record, *info)) {
    Put(record, *info);
  }
}

void RecordWalker::Begin(const Record& record, const FieldInfo* info) {
  const bool used = info != nullptr && Place(record, *info);
  if (open_.size() >= static_cast<size_t>(format::kMaxGroupDepth)) {
    problems_->Add(record.offset, "groups are nested too deep");
    excess_depth_ = 1;
    return;
  }
  open_.push_back({record.field, record.offset, used});
  if (used) {
    builder_->Begin(info->field, record.offset);
  }
}

void RecordWalker::End(const Record& record) {
  if (excess_depth_ > 0) {
    --excess_depth_;
    return;
  }
  size_t depth = open_.size();
  while (depth > 0 && open_[depth - 1].field != record.field) {
    --depth;
  }
  if (depth == 0) {
    problems_->Add(
        record.offset, FieldName(record.field), " ends but never began");
    return;
  }
  CloseUnfinished(depth, record.offset);
  const Open group = open_.back();
  open_.pop_back();
  const bool sound =
      record.bytes == 4 &&
      StoredChecksum(record.payload) ==
          safe::Crc32c(0, file_ + group.start, record.offset - group.start);
  if (!sound) {
    problems_->Add(group.start,
                   FieldName(group.field),
                   " is damaged: its checksum is wrong");
  }
  if (group.used) {
    builder_->End(static_cast<format::Field>(group.field), sound, group.start);
  }
}

void RecordWalker::Put(const Record& record, const FieldInfo& info) {
  Value value;
  value.field = info.field;
  value.data = record.payload;
  value.bytes = record.bytes;
  value.offset = record.offset;
  if (record.bytes > format::kMaxPayloadBytes) {
    problems_->Add(record.offset, FieldName(record.field), " is too long");
    return;
  }
  const bool is_number = info.kind == Kind::kUnsigned ||
                         info.kind == Kind::kSigned ||
                         info.kind == Kind::kAddress;
  if (is_number && !Number(record, &value.number)) {
    problems_->Add(record.offset, FieldName(record.field), " is no number");
    return;
  }
  if (info.kind == Kind::kSigned) {
    value.number = static_cast<uint64_t>(format::UnZigZag(value.number));
  }
  builder_->Put(value, info.parent);
}

// Finds the group that `info` belongs to, innermost first. True when it is open
// and in use; groups inside it, whose end was lost, are closed.
bool RecordWalker::Place(const Record& record, const FieldInfo& info) {
  size_t depth = open_.size();
  const uint16_t parent = static_cast<uint16_t>(info.parent);
  while (depth > 0 && open_[depth - 1].field != parent) {
    --depth;
  }
  if (depth == 0 && parent != 0) {
    problems_->Add(record.offset, info.name, " outside of ", FieldName(parent));
    return false;
  }
  CloseUnfinished(depth, record.offset);
  return depth == 0 || open_[depth - 1].used;
}

void RecordWalker::CloseUnfinished(size_t depth, size_t offset) {
  while (open_.size() > depth) {
    const Open group = open_.back();
    open_.pop_back();
    problems_->Add(group.start,
                   FieldName(group.field),
                   " is not finished: its end is missing");
    if (group.used) {
      builder_->End(static_cast<format::Field>(group.field), false, offset);
    }
  }
}

}  // namespace cairn::report
