// SPDX-License-Identifier: Apache-2.0
//
// What is to be done with slots that processes left behind.
//
// Ordinary code. The caller holds the directory's QueueLock, except for
// SlotFate.
#ifndef CAIRN_UPLOAD_SLOTS_H_
#define CAIRN_UPLOAD_SLOTS_H_

#include <cstdint>
#include <vector>

#include "format/report_format.h"
#include "upload/directory.h"
#include "upload/process_state.h"

namespace cairn::upload {

enum class Fate {
  kInUse,      // its process lives, or may live: not touched
  kFinished,   // holds a report that nobody writes any more
  kAbandoned,  // never used, and nobody is left who could
};

// `state` answers for processes (StateOf, unless a test stands in for it).
// A used slot belongs to the process that claimed it, an unused one to the
// process that made it; where the process is unknown the lock on the file
// decides. An unused one is abandoned only when the lock is free as well: a
// child of its maker that holds the lock may still crash into it.
Fate FateOf(const format::FileHeader& header,
            LockState lock,
            ProcessState (*state)(const format::ProcessIdentity&) = StateOf);

// The header at the start of a slot. False when it is none.
bool ReadHeader(const Descriptor& fd, format::FileHeader* header);
Fate SlotFate(const Directory& directory, const std::string& name);

// Cuts every finished slot to its report's length and renames it to NAME.cairn,
// dated by its event; removes abandoned ones. Looks at no more than a thousand
// slots a call. Returns how many files changed.
size_t FinishSlots(const Directory& directory);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_SLOTS_H_
