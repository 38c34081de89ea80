// SPDX-License-Identifier: Apache-2.0
//
// Report slots: files made and mapped before they are needed.
//
// Crash time: yes, all of it; install calls the same functions. A slot's file
// is NAME.slot; a finished report is renamed to NAME.cairn, by the crashed
// process if it can, else at the next launch.
#ifndef CAIRN_WRITER_SLOT_H_
#define CAIRN_WRITER_SLOT_H_

#include <cstddef>
#include <cstdint>

#include "format/report_format.h"

namespace cairn::writer {

inline constexpr size_t kSlotNameBytes = 40;       // a uuid's text and its end
inline constexpr size_t kMaxDirectoryBytes = 736;  // of a slot directory's path

struct Slot {
  format::FileHeader* header;  // the mapping; null: no slot
  size_t first_bytes;          // with real blocks
  size_t total_bytes;          // with the sparse second part
  int32_t fd;
  uint64_t device, inode;  // what fd was when we opened it
  char name[kSlotNameBytes];
};

// Where slots are made. The descriptor is checked before each use: the app may
// have closed it and opened something else under its number.
struct SlotDirectory {
  int32_t fd;
  uint64_t device, inode;
  const char* path;  // absolute, at most kMaxDirectoryBytes, outlives all
};

// Of a slot's first part this much waits for no page fault at the crash: what
// install writes and, where there are not hundreds of images, the whole first
// stage. The blocks behind it are the file's already; each page costs install
// and resident memory its share.
inline constexpr size_t kReadyBytes = 48 << 10;

struct SlotSpec {
  SlotDirectory directory;
  size_t first_bytes;
  size_t second_bytes;
  format::ProcessIdentity installer;
};

// Makes, sizes, locks and maps a slot. Returns 0 or the errno; on failure
// nothing is left behind. EFBIG: the file-size limit is below first_bytes (no
// SIGXFSZ is ever raised). The first part's blocks exist and its pages are
// mapped in.
int MakeSlot(const SlotSpec& spec, Slot* out);

// Takes the slot for a report of this process. False when it is taken.
bool ClaimSlot(Slot* slot, const format::ProcessIdentity& owner);

// Marks the report as finished, cuts the file to `committed` bytes and
// `spare_bytes` more, and gives it its final name. Best effort: a report whose
// name stays .slot is found all the same. True when it has its final name.
bool FinishSlot(Slot* slot, const SlotDirectory& directory, size_t spare_bytes);

// Unmaps an unused slot and removes its file.
void RemoveSlot(Slot* slot, const SlotDirectory& directory);

// Gives the pages in [from, to) of the second part real blocks. False when the
// disk is full: touching them would raise SIGBUS.
bool PopulateSecondPart(const Slot& slot, size_t from, size_t to);

// RFC 9562 version 4, from getrandom(2), or from clocks where that is refused.
void MakeUuid(uint8_t out[16]);
void UuidText(const uint8_t uuid[16], char out[37]);

// The checksum that FileHeader::header_crc holds.
uint32_t HeaderCrc(const format::FileHeader& header);

}  // namespace cairn::writer

#endif  // CAIRN_WRITER_SLOT_H_
