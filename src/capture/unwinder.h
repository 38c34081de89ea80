// SPDX-License-Identifier: Apache-2.0
//
// Walks a stack. One core for all architectures: it sees bytes through a
// reader, registers and images as data, and nothing of the system it runs on.
//
// Crash time: yes. No allocation, no lock, bounded loops and stack.
#ifndef CAIRN_CAPTURE_UNWINDER_H_
#define CAIRN_CAPTURE_UNWINDER_H_

#include <cstddef>
#include <cstdint>

#include "capture/image_table.h"
#include "capture/registers.h"
#include "format/report_format.h"
#include "safe/memory_reader.h"

namespace cairn::capture {

struct Frame {
  uint64_t address;        // as found, never reduced
  uint64_t stack_pointer;  // at that frame, 0 when unknown
  format::FrameKind kind;
  format::FrameTrust trust;
};

// [low, high); both 0 when unknown: then only the reader limits the walk.
struct StackBounds {
  uint64_t low;
  uint64_t high;
};

struct WalkLimits {
  size_t inner_frames = 256;
  size_t outer_frames = 256;
  // Give up counting behind this many frames.
  size_t most_frames = 1u << 20;
  size_t scan_words = 64;
};

// Unwind rules that a step compiled, so that equal return addresses in other
// threads cost a look-up. Plain storage of the caller's (zero at first, and
// again whenever images may have come or gone), lossy, not shared between
// threads that walk at the same time.
struct RuleCache;
size_t RuleCacheBytes();

// Unwind tables of image `image` that are not loaded: see cfi_table.h.
struct DebugFrames;
struct ImageDebugFrames {
  uint32_t image;
  const DebugFrames* frames;
};

struct WalkInput {
  const Registers* registers;
  safe::MemoryReader memory;        // images: code, unwind tables
  safe::MemoryReader stack_memory;  // stack: often a copy
  const ImageTable* images;
  StackBounds stack;
  WalkLimits limits;
  RuleCache* cache;            // may be null
  bool first_is_fault = true;  // kind of frame 0: fault, else interrupted
  // Apple's conventions: on 32-bit ARM r7 is the frame pointer, always.
  bool apple_abi = false;
  // Bits of a return address that are address, where pointers carry signatures
  // (arm64); 0: the low 48 bits there, all elsewhere.
  uint64_t return_address_mask = 0;
  // Asked where an image's loaded tables say nothing; may be null.
  const ImageDebugFrames* debug_frames = nullptr;
  size_t debug_frame_count = 0;
};

struct WalkOutput {
  Frame* frames;        // room for limits.inner_frames + limits.outer_frames
  size_t count;         // frames stored, innermost first
  size_t gap_position;  // index before which `gap_frames` frames are left out
  size_t gap_frames;    // 0: none
  format::WalkEnd end;
};

// Walks from `input.registers` outwards into `output->frames`, innermost first.
// Depth beyond the limits keeps both ends and counts the middle. `end` tells
// why the walk stopped; kEndOfStack is the only complete one, and for every
// other value the frames found so far are still good.
void WalkStack(const WalkInput& input, WalkOutput* output);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_UNWINDER_H_
