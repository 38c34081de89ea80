// SPDX-License-Identifier: Apache-2.0
//
// Finds the DWARF call frame information of a code address: .eh_frame_hdr
// (LSB Core 5.0 section 10.6.2), then the FDE and its CIE in .eh_frame.
//
// Crash time: yes. Any thread. Every size is bounded; the tables are foreign.
#ifndef CAIRN_CAPTURE_CFI_TABLE_H_
#define CAIRN_CAPTURE_CFI_TABLE_H_

#include <cstdint>

#include "safe/memory_reader.h"

namespace cairn::capture {

// Where an image's tables are; 0 where there is none.
struct CfiTables {
  uint64_t header;  // .eh_frame_hdr
  uint64_t header_bytes;
  uint64_t frames;  // .eh_frame, for images without header
  uint64_t frames_bytes;
};

// An FDE together with its CIE.
struct CfiEntry {
  uint64_t begin;  // code, [begin, end)
  uint64_t end;
  uint64_t fde;  // where the FDE begins
  uint64_t initial_program;
  uint64_t initial_program_end;
  uint64_t program;
  uint64_t program_end;
  uint64_t code_align;
  int64_t data_align;
  uint64_t return_register;
  uint8_t pointer_encoding;  // DW_EH_PE_* of code addresses
  bool signal_frame;         // augmentation S
  bool sized_augmentation;   // augmentation z: each FDE has a length too
};

enum class CfiLookup { kFound, kNone, kBad };

// The entry that covers `address`. A table that is unusable is passed by:
// .eh_frame is then read from its start, and each entry looked at takes one
// from `budget`. kBad when tables are there but cannot be read.
CfiLookup FindCfi(const safe::MemoryReader& memory,
                  const CfiTables& tables,
                  uint64_t address,
                  int pointer_bytes,
                  uint32_t* budget,
                  CfiEntry* entry);

// .debug_frame, which is not loaded (DWARF 5 section 6.4.1): the bytes that
// ordinary code has read from a file, at `address` in `memory`. Code addresses
// in it are as linked.
struct DebugFrames {
  safe::MemoryReader memory;
  uint64_t address;
  uint64_t bytes;
};

// The entry that covers the linked address `address`; begin and end are linked
// addresses too. Read from its start: each entry looked at takes one from
// `budget`.
CfiLookup FindDebugFrame(const DebugFrames& frames,
                         uint64_t address,
                         int pointer_bytes,
                         uint32_t* budget,
                         CfiEntry* entry);

// Reads the FDE at `fde`, which must lie before `limit`.
bool ParseFde(const safe::MemoryReader& memory,
              uint64_t fde,
              uint64_t limit,
              int pointer_bytes,
              CfiEntry* entry);

// Reads an encoded pointer (DW_EH_PE_*). `data_base` is the base of the
// data-relative form, 0 when there is none. Unknown encodings fail the reader.
class ByteReader;
uint64_t ReadEncodedPointer(ByteReader* bytes,
                            const safe::MemoryReader& memory,
                            uint8_t encoding,
                            uint64_t data_base,
                            int pointer_bytes);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_CFI_TABLE_H_
