// SPDX-License-Identifier: Apache-2.0
//
// An ELF image as it lies in memory: program headers, segments, build-id. For
// 32 and 64 bit; section headers are never used, since they are not mapped.
//
// Crash time: yes. Any thread. Reads only through the reader; every size that
// the image states is bounded.
#ifndef CAIRN_CAPTURE_ELF_IMAGE_H_
#define CAIRN_CAPTURE_ELF_IMAGE_H_

#include <cstdint>

#include "capture/image_table.h"
#include "safe/memory_reader.h"

namespace cairn::capture {

inline constexpr uint32_t kMaxProgramHeaders = 256;
inline constexpr uint32_t kProgramHeaderBytes64 = 56;
inline constexpr uint32_t kProgramHeaderBytes32 = 32;

// Where an image's program headers are. `entry_bytes` tells the class.
struct ProgramHeaders {
  uint64_t address;
  uint32_t count;
  uint32_t entry_bytes;
};

// One of them, widened.
struct ProgramHeader {
  uint32_t type;
  uint32_t flags;
  uint64_t offset;
  uint64_t address;
  uint64_t file_bytes;
  uint64_t memory_bytes;
  uint64_t align;
};

// Reads the ELF header at `base`. False when there is none.
bool ReadElfHeader(const safe::MemoryReader& memory,
                   uint64_t base,
                   ProgramHeaders* headers);
// Reads header `index`. False when it is unreadable or out of bounds.
bool ReadProgramHeader(const safe::MemoryReader& memory,
                       const ProgramHeaders& headers,
                       uint32_t index,
                       ProgramHeader* header);

// What an image whose file header lies at `base` was moved by: `base` less the
// linked address of file offset 0. False without a loadable segment.
bool LoadBiasFromBase(const safe::MemoryReader& memory,
                      const ProgramHeaders& headers,
                      uint64_t base,
                      uint64_t page_bytes,
                      uint64_t* bias);

// Fills everything of `image` but the path. False when no segment is loaded.
bool FillElfImage(const safe::MemoryReader& memory,
                  const ProgramHeaders& headers,
                  uint64_t bias,
                  uint64_t page_bytes,
                  Image* image);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_ELF_IMAGE_H_
