// SPDX-License-Identifier: Apache-2.0
//
// The images (executable, libraries, loader, vDSO) of the process, kept from
// install on so that a crash needs no loader and no lock.
//
// Append-only: an image keeps its index for ever; an unloaded one is marked.
// Writers are ordinary code, one at a time (the caller's lock) or the crashed
// thread; readers are lock-free and may run at any moment, crash time included.
#ifndef CAIRN_CAPTURE_IMAGE_TABLE_H_
#define CAIRN_CAPTURE_IMAGE_TABLE_H_

#include <cstddef>
#include <cstdint>

#include "safe/memory_reader.h"

namespace cairn::capture {

inline constexpr uint32_t kNoImage = 0xffffffff;
inline constexpr size_t kMaxImageSegments = 8;
inline constexpr size_t kMaxImageIdBytes = 32;
inline constexpr size_t kMaxImagePathBytes = 512;

enum SegmentFlags : uint32_t {
  kSegmentRead = 4,
  kSegmentWrite = 2,
  kSegmentExecute = 1
};

struct ImageSegment {
  uint64_t address;  // where it is loaded
  uint64_t bytes;    // memory size
  uint32_t flags;
  uint32_t reserved;
};

struct Image {
  uint64_t address;       // start of the lowest loaded segment
  uint64_t bytes;         // to the end of the highest
  uint64_t link_bias;     // address − lowest linked address (wraps)
  uint64_t eh_frame_hdr;  // run-time address of PT_GNU_EH_FRAME, 0: none
  uint64_t eh_frame_hdr_bytes;
  // .eh_frame of an image without PT_GNU_EH_FRAME, 0: none or not needed.
  uint64_t eh_frame;
  uint64_t eh_frame_bytes;
  uint64_t dynamic;  // run-time address of PT_DYNAMIC, 0: none
  // Mach-O: run-time address of __TEXT,__unwind_info, 0: none.
  uint64_t unwind_info;
  uint64_t unwind_info_bytes;
  ImageSegment segments[kMaxImageSegments];
  uint32_t segment_count;
  uint32_t id_bytes;  // 0: no id known
  uint8_t id[kMaxImageIdBytes];
  // 1: the file carries no build-id and `id` was derived: the first page of the
  // first executable segment (from its p_vaddr, at most 4,096 bytes and never
  // beyond p_filesz), folded by exclusive or into 16 bytes.
  uint32_t id_derived;
  uint32_t refresh_stamp;  // of the refresh that saw it last; writers only
  uint64_t id_address;     // where the build-id's bytes are, 0: derived or none
  // Mach-O only: the address of its header, what it was built for, and where
  // its last words would be (`__crash_info`, 0: none).
  uint64_t header;
  uint32_t cpu_type, cpu_subtype;
  uint64_t crash_info;
  uint64_t crash_info_bytes;
  uint32_t unloaded;  // 1 once it is gone (atomic)
  uint32_t path_bytes;
  char path[kMaxImagePathBytes];  // not terminated; longer paths keep their end
};

// Segments that the sorted index can hold; with more, look-ups are linear.
inline constexpr uint32_t kMaxIndexedSegments = 4096;

// Storage belongs to the caller and is never moved or freed while in use. The
// table itself is about 200 KiB, of which only what is used is ever touched:
// keep it in static or mapped memory, zero at first.
class ImageTable {
 public:
  // `storage` has room for `capacity` images and is zero. Readers may start at
  // once.
  void Init(Image* storage, uint32_t capacity);

  // Number of images ever added; index below it are readable.
  uint32_t count() const { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }
  const Image& at(uint32_t index) const { return storage_[index]; }
  // How many did not fit.
  uint32_t dropped() const {
    return __atomic_load_n(&dropped_, __ATOMIC_RELAXED);
  }

  // Writers. Append returns the index, kNoImage when full.
  uint32_t Append(const Image& image);
  void MarkUnloaded(uint32_t index);
  // Sorts the segments of all loaded images, so that look-ups become binary
  // searches. RefreshImages calls it; images appended since are found one by
  // one.
  void Reindex();
  Image* Mutable(uint32_t index) { return &storage_[index]; }
  uint32_t NextRefreshStamp() { return ++refreshes_; }
  uint32_t capacity() const { return capacity_; }
  void SetDropped(uint32_t images) {
    __atomic_store_n(&dropped_, images, __ATOMIC_RELAXED);
  }

  // The image with a segment that holds `address`; loaded ones win over
  // unloaded ones, later over earlier. kNoImage when there is none. Segment by
  // segment: never by lowest and highest address.
  uint32_t Find(uint64_t address) const;
  // True when `address` lies in an executable segment of a loaded image.
  bool IsExecutable(uint64_t address) const {
    return (FindSegment(address).flags & kSegmentExecute) != 0;
  }

 private:
  struct IndexEntry {
    uint64_t low;
    uint64_t high;
    uint32_t image;
    uint32_t flags;
  };
  // Two of them: one is read while the other is written.
  struct Index {
    uint32_t entries;
    uint32_t images;  // images below this number are in it
    uint32_t usable;  // 0: it would be too large, or segments overlap
    IndexEntry entry[kMaxIndexedSegments];
  };
  struct Found {
    uint32_t image = kNoImage;
    uint32_t flags = 0;
  };

  Found FindSegment(uint64_t address) const;  // among loaded images
  Found FindLinear(uint64_t address, uint32_t from, bool unloaded) const;
  bool SearchIndex(uint64_t address, Found* found) const;
  bool FillIndex(Index* index) const;

  Image* storage_ = nullptr;
  uint32_t capacity_ = 0;
  uint32_t count_ = 0;
  uint32_t dropped_ = 0;
  uint32_t unloaded_ = 0;
  uint32_t refreshes_ = 0;
  uint32_t generation_ = 0;  // index_[generation_ & 1] may be read; 0: none yet
  // Not set: 200 KiB that install would touch for nothing. FillIndex sets what
  // is read.
  Index index_[2];
};

// What the kernel told the process at start (getauxval, or /proc/self/auxv).
struct ProcessVectors {
  uint64_t program_headers;       // AT_PHDR
  uint64_t program_header_count;  // AT_PHNUM
  uint64_t program_header_bytes;  // AT_PHENT
  uint64_t loader_base;           // AT_BASE, 0 for static programs
  uint64_t vdso;                  // AT_SYSINFO_EHDR, 0: none
  const char* executable_path;    // readlink of /proc/self/exe; may be ""
  uint64_t page_bytes = 4096;     // AT_PAGESZ
};

// Brings `table` up to date with the loader's own list: appends what is new,
// marks what is gone. Walks DT_DEBUG's link map and program headers by checked
// reads only; takes no lock and calls no loader function. Bounded: at most the
// table's capacity and 1,024 list nodes. Returns how many images were added.
//
// Crash time: yes. A list that is mid-update yields what is readable; nothing
// is marked unloaded then.
uint32_t RefreshImages(ImageTable* table,
                       const ProcessVectors& vectors,
                       const safe::MemoryReader& memory);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_IMAGE_TABLE_H_
