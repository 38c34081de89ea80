// SPDX-License-Identifier: Apache-2.0
//
// The bytes that a crashed thread's registers point at, as kMemory groups: the
// object behind `this`, the string in a register, the code that was running.
//
// Crash time: yes, and out of band only: what a register points at may be
// memory whose pages never come (userfaultfd(2), a FUSE mapping), so whoever
// calls this must be one that another can end, and everything else must have
// been committed.
#ifndef CAIRN_WRITER_NEAR_MEMORY_H_
#define CAIRN_WRITER_NEAR_MEMORY_H_

#include "capture/registers.h"
#include "capture/unwinder.h"
#include "safe/memory_reader.h"
#include "writer/record_writer.h"

namespace cairn::writer {

// A window begins this far before the address it is about, and is this long.
inline constexpr uint64_t kNearBeforeBytes = 32;
inline constexpr size_t kNearBytes = 128;
// At most that many windows: every register of every architecture but the
// stack pointer, and the fault address.
inline constexpr size_t kMaxNearWindows = format::kMaxRegisters;

struct NearMemory {
  const capture::Registers* registers;
  bool has_fault_address;
  uint64_t fault_address;
  // Stack bytes that the report has already; empty: none.
  capture::StackBounds told;
};

// First the fault address, then the registers in their order as far as the
// program counter: the rest are flags and bases of thread-local storage, where
// the C library keeps the secrets of its guards. An address that
// an earlier window shows, or the stack bytes, gets none of its own; nor does
// one that cannot be read, nor a number too small to be an address. Each group
// is committed and then its bytes added to `*kept`, for whoever goes on when
// this never returns. Returns how many groups there are.
size_t PutNearMemory(RecordWriter* records,
                     const NearMemory& near,
                     const safe::MemoryReader& memory,
                     uint64_t* kept);

}  // namespace cairn::writer

#endif  // CAIRN_WRITER_NEAR_MEMORY_H_
