// SPDX-License-Identifier: Apache-2.0
//
// Appends records to a buffer of fixed size: a mapped slot, or a test's array.
//
// Crash time: yes. One thread at a time. Never allocates, never writes past the
// end. What does not fit is left out whole: a failed record leaves the buffer
// as it was, a failed group is taken back to its begin record.
//
// A commit publishes everything written so far to the reader of the file: the
// bytes first, then the length, so a report that is cut between two commits is
// whole up to the former.
#ifndef CAIRN_WRITER_RECORD_WRITER_H_
#define CAIRN_WRITER_RECORD_WRITER_H_

#include <cstddef>
#include <cstdint>

#include "format/report_format.h"

namespace cairn::writer {

class RecordWriter {
 public:
  // Writes into `buffer[start, capacity)`. `committed` is set to the absolute
  // position by Commit (null: commits are only counted here).
  RecordWriter(uint8_t* buffer,
               size_t start,
               size_t capacity,
               uint64_t* committed);

  // Each returns false, and changes nothing, when the record does not fit.
  bool PutUnsigned(format::Field field, uint64_t value);
  bool PutSigned(format::Field field, int64_t value);
  bool PutAddress(format::Field field, uint64_t address);
  bool PutString(format::Field field, const char* text, size_t bytes);
  bool PutBytes(format::Field field, const void* data, size_t bytes);
  bool PutPacked(format::Field field, const uint8_t* varints, size_t bytes);

  bool BeginGroup(format::Field field);
  // Closes the innermost group; room for it was kept by BeginGroup.
  void EndGroup();
  // Takes back the innermost group and everything in it.
  void DropGroup();

  // A copy of bytes that are whole records at the top level (an image table
  // that was made earlier). Only outside groups.
  bool PutRecords(const uint8_t* records, size_t bytes);

  void Commit();
  // Forgets what was written since the last commit, open groups too: for
  // whoever takes over from a writer that was killed.
  void Rewind();

  // Room kept free for the last records (a cut, the stage marker): the end that
  // ordinary records see is `bytes` before the real one.
  void Reserve(size_t bytes);

  // The buffer has grown: its second part was mapped and is writable up to
  // here.
  void Extend(size_t capacity);

  size_t position() const { return position_; }
  size_t capacity() const { return capacity_; }
  size_t remaining() const;
  int depth() const { return depth_; }
  // How many records did not fit.
  uint32_t dropped() const { return dropped_; }

 private:
  bool Put(format::Field field,
           format::Kind kind,
           const void* payload,
           size_t bytes);

  uint8_t* buffer_;
  size_t position_;
  size_t last_commit_;
  size_t capacity_;
  size_t reserved_ = 0;
  uint64_t* committed_;
  uint32_t dropped_ = 0;
  int depth_ = 0;
  size_t group_start_[format::kMaxGroupDepth] = {};
  format::Field group_field_[format::kMaxGroupDepth] = {};
};

// A group as a scope: closed on every path.
class ScopedGroup {
 public:
  ScopedGroup(RecordWriter* writer, format::Field field)
      : writer_(writer), open_(writer->BeginGroup(field)) {}
  ~ScopedGroup() {
    if (open_) {
      writer_->EndGroup();
    }
  }
  ScopedGroup(const ScopedGroup&) = delete;
  ScopedGroup& operator=(const ScopedGroup&) = delete;
  // False when there was no room for the group: nothing inside will be written.
  explicit operator bool() const { return open_; }

 private:
  RecordWriter* writer_;
  bool open_;
};

}  // namespace cairn::writer

#endif  // CAIRN_WRITER_RECORD_WRITER_H_
