// SPDX-License-Identifier: Apache-2.0
//
// What the app says while it runs, kept in fixed memory for a crash: keys and
// breadcrumbs.
//
// Writers are ordinary threads and never block; the reader is the crash. A
// sequence number per entry (odd while it is being written) tells torn entries
// apart; they are left out.
#ifndef CAIRN_WRITER_ANNOTATIONS_H_
#define CAIRN_WRITER_ANNOTATIONS_H_

#include <cstddef>
#include <cstdint>

#include "writer/record_writer.h"

namespace cairn::writer {

inline constexpr size_t kMaxKeys = 64;
inline constexpr size_t kMaxBreadcrumbs = 64;

struct KeyEntry {
  uint32_t sequence;
  uint8_t used;
  uint8_t name_bytes;
  uint8_t value_bytes;
  uint8_t reserved;
  char name[64];
  char value[256];
};

struct BreadcrumbEntry {
  uint32_t sequence;
  uint8_t message_bytes;
  uint8_t category_bytes;
  uint16_t reserved;
  uint64_t time_ns;
  char category[32];
  char message[192];
};

// Zero is a valid empty state.
struct Annotations {
  uint32_t busy;              // a key is being set
  uint32_t breadcrumb_count;  // ever added
  KeyEntry keys[kMaxKeys];
  BreadcrumbEntry breadcrumbs[kMaxBreadcrumbs];
};

// Crash time: yes. Sets, replaces or (value null) removes a key. False when the
// table is full or another thread is setting one at this moment.
bool SetKey(Annotations* annotations, const char* name, const char* value);
void AddBreadcrumb(Annotations* annotations,
                   const char* category,
                   const char* message);

// Crash time: yes. Writes what is whole: keys, then breadcrumbs, oldest first.
void PutAnnotations(RecordWriter* records, const Annotations& annotations);

}  // namespace cairn::writer

#endif  // CAIRN_WRITER_ANNOTATIONS_H_
