// SPDX-License-Identifier: Apache-2.0
//
// A Mach-O image as it lies in memory: header and load commands, segments,
// slide, UUID, cpu type. Knows no system: bytes come through the reader.
//
// Crash time: yes. Any thread. Every size that the image states is bounded: at
// most kMaxLoadCommands commands in kMaxCommandBytes, read in pieces of 512
// bytes (a read may be a system call). A command list that is damaged, cut or
// unreadable yields what stands before the damage.
#ifndef CAIRN_CAPTURE_MACHO_IMAGE_H_
#define CAIRN_CAPTURE_MACHO_IMAGE_H_

#include <cstdint>

#include "capture/image_table.h"
#include "safe/memory_reader.h"

namespace cairn::capture {

inline constexpr uint32_t kMaxLoadCommands = 4096;
inline constexpr uint32_t kMaxCommandBytes = 1u << 20;

// What an image says beside that which an image table keeps. All addresses are
// run-time addresses; 0 where there is none.
struct MachOFacts {
  uint32_t cpu_type;     // as in the header
  uint32_t cpu_subtype;  // with its flag bits
  uint32_t file_type;    // MH_EXECUTE 2, MH_DYLIB 6, MH_DYLINKER 7, …
  uint32_t flags;        // MH_*
  uint32_t pointer_bytes;
  uint32_t platform;          // LC_BUILD_VERSION; 0: none
  uint32_t minimum_os;        // 0x00XXYYZZ, XX.YY.ZZ
  uint32_t sdk;               // the same
  uint64_t slide;             // loaded address − linked address (wraps)
  uint64_t install_name;      // text of LC_ID_DYLIB, terminated
  uint64_t install_name_end;  // of its command
  bool whole;                 // all commands that the header states were read
};

// Reads the image whose header is loaded at `header` and fills everything of
// `image` but the path: `address` is the start of the lowest segment (the
// header, but in odd images), `link_bias` the slide, `id` LC_UUID, `eh_frame`
// and `unwind_info` the sections of these names in __TEXT, `crash_info` that of
// __DATA, else of __DATA_DIRTY. `image` and `facts` need no preparation.
//
// Left out of the segments: those that allow no access and have no bytes in
// the file (__PAGEZERO), empty ones, those whose end wraps, and in images of
// the shared cache __LINKEDIT, which all of them share. Beyond
// kMaxImageSegments the executable ones are kept.
//
// False, with `image` zero, when there is no header in this byte order, or no
// segment that tells where the header was linked: then nothing is known of the
// slide. `facts` has what was read until then.
bool FillMachOImage(const safe::MemoryReader& memory,
                    uint64_t header,
                    MachOFacts* facts,
                    Image* image);
// The same, for those who need no facts.
bool FillMachImage(const safe::MemoryReader& memory,
                   uint64_t header,
                   Image* image);

// What the image says of its own end (struct crashreporter_annotations_t): the
// address of `message`, or of `message2`; 0 when it says nothing.
uint64_t CrashInfoMessage(const safe::MemoryReader& memory,
                          const Image& image,
                          bool second);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_MACHO_IMAGE_H_
