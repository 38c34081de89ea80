// SPDX-License-Identifier: Apache-2.0
//
// The flow: RefreshImages → AddMain (program headers the kernel named) →
// WalkNamespaces (DT_DEBUG → r_debug → link_map, each namespace) → AddNode per
// library → the loader and the vDSO where no list named them → MarkUnseen.
//
// Folklore: the loader appears in the link map and as AT_BASE; the vDSO in
// glibc's link map and as AT_SYSINFO_EHDR; the loader of the main namespace
// once more in each dlmopen namespace. What has the same dynamic section and
// the same load bias is the same image (test: ImageRefresh.*Duplicate*).
#include <elf.h>
#include <link.h>

#include "capture/elf_image.h"
#include "capture/image_table.h"
#include "safe/bytes.h"

namespace cairn::capture {
namespace {

constexpr uint32_t kMaxDynamicEntries = 1024;
constexpr uint32_t kMaxNamespaces = 16;
// Looked at only to count what a full table drops.
constexpr uint32_t kMaxNodesBeyondCapacity = 1024;
// A library whose file header is not at its load bias was linked to a fixed
// address; its header is looked for below its dynamic section.
constexpr uint32_t kMaxHeaderSearchPages = 4096;
// struct r_debug with plain integers: foreign bytes are no enum's values.
struct RawDebug {
  int version;
  ElfW(Addr) map;
  ElfW(Addr) breakpoint;
  int state;
  ElfW(Addr) loader_base;
};
static_assert(sizeof(RawDebug) == sizeof(r_debug));
constexpr char kVdsoPath[] = "linux-vdso.so.1";

// Node counts and cycles are bounded over all namespaces together.
struct Refresh {
  ImageTable* table;
  const ProcessVectors* vectors;
  safe::MemoryReader memory;
  uint32_t stamp = 0;
  uint32_t hint = 0;  // images mostly stand in the loader's order
  uint32_t added = 0;
  uint32_t nodes_left = 0;
  uint32_t dropped = 0;
  bool listed_loader = false;
  bool listed_vdso = false;
  bool walked = false;   // a list was found
  bool complete = true;  // and all of it was read
  bool changed = false;
};

void SetPath(Image* image, const char* path, size_t bytes) {
  const size_t kept = bytes < kMaxImagePathBytes ? bytes : kMaxImagePathBytes;
  safe::Copy(image->path, path + (bytes - kept), kept);
  image->path_bytes = static_cast<uint32_t>(kept);
}

// Reads a terminated string in pieces, never beyond its end; keeps the end of a
// longer one (at most 4,096 bytes are read).
void ReadPath(const safe::MemoryReader& memory,
              uint64_t address,
              Image* image) {
  constexpr size_t kPiece = 64;
  image->path_bytes = 0;
  for (size_t read = 0; address != 0 && read < 4096; read += kPiece) {
    char piece[kPiece];
    const size_t got = memory.ReadSome(address + read, piece, kPiece);
    const size_t length = safe::Length(piece, got);
    const size_t room = kMaxImagePathBytes - image->path_bytes;
    if (length > room) {
      const size_t drop = length - room;
      cairn_safe_memmove(
          image->path, image->path + drop, image->path_bytes - drop);
      image->path_bytes -= static_cast<uint32_t>(drop);
    }
    safe::Copy(image->path + image->path_bytes, piece, length);
    image->path_bytes += static_cast<uint32_t>(length);
    if (length < kPiece) {
      return;
    }
  }
}

bool SamePath(const Image& left, const Image& right) {
  return left.path_bytes == right.path_bytes &&
         safe::Equal(left.path, right.path, left.path_bytes);
}

// True when the build-id bytes in memory are still those of the table.
bool SameId(const safe::MemoryReader& memory, const Image& image) {
  uint8_t id[kMaxImageIdBytes];
  return image.id_address == 0 ||
         (memory.Read(image.id_address, id, image.id_bytes) &&
          safe::Equal(id, image.id, image.id_bytes));
}

// The loaded image with this place, kNoImage when there is none.
uint32_t FindLoaded(const Refresh& refresh, uint64_t bias, uint64_t dynamic) {
  const uint32_t count = refresh.table->count();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = (refresh.hint + i) % count;
    const Image& image = refresh.table->at(index);
    if (image.unloaded == 0 && image.link_bias == bias &&
        image.dynamic == dynamic) {
      return index;
    }
  }
  return kNoImage;
}

void MarkSeen(Refresh* refresh, uint32_t index) {
  refresh->table->Mutable(index)->refresh_stamp = refresh->stamp;
  refresh->hint = index + 1;
}

void AppendSeen(Refresh* refresh, Image* image) {
  image->refresh_stamp = refresh->stamp;
  if (refresh->table->count() == refresh->table->capacity()) {
    ++refresh->dropped;
    return;
  }
  refresh->hint = refresh->table->Append(*image) + 1;
  ++refresh->added;
  refresh->changed = true;
}

// Adds the image at `headers` unless it is known. `image` carries the path. An
// image with a known place but another file behind it replaces the known one.
void AddImage(Refresh* refresh,
              const ProgramHeaders& headers,
              uint64_t bias,
              uint64_t dynamic,
              bool compare_path,
              Image* image) {
  const uint32_t known = FindLoaded(*refresh, bias, dynamic);
  if (known != kNoImage) {
    const Image& old = refresh->table->at(known);
    if ((!compare_path || SamePath(old, *image)) &&
        SameId(refresh->memory, old)) {
      MarkSeen(refresh, known);
      return;
    }
    if (old.refresh_stamp == refresh->stamp) {
      return;  // the same library under a second name
    }
  }
  if (!FillElfImage(refresh->memory,
                    headers,
                    bias,
                    refresh->vectors->page_bytes,
                    image)) {
    refresh->complete = false;
    return;
  }
  if (known != kNoImage) {
    refresh->table->MarkUnloaded(known);
    refresh->changed = true;
  }
  AppendSeen(refresh, image);
}

// The load bias of the main executable: from PT_PHDR; without one (static
// programs) from the file header, which lies before the program headers; else
// it was linked to where it runs.
uint64_t MainBias(const Refresh& refresh, const ProgramHeaders& headers) {
  ProgramHeader header;
  for (uint32_t i = 0; ReadProgramHeader(refresh.memory, headers, i, &header);
       ++i) {
    if (header.type == PT_PHDR) {
      return headers.address - header.address;
    }
  }
  const uint64_t page_bytes = refresh.vectors->page_bytes;
  const uint64_t base = headers.address & ~(page_bytes - 1);
  ProgramHeaders found;
  uint64_t bias = 0;
  if (ReadElfHeader(refresh.memory, base, &found) &&
      found.address == headers.address) {
    LoadBiasFromBase(refresh.memory, headers, base, page_bytes, &bias);
  }
  return bias;
}

uint64_t DynamicOf(const Refresh& refresh,
                   const ProgramHeaders& headers,
                   uint64_t bias) {
  ProgramHeader header;
  for (uint32_t i = 0; ReadProgramHeader(refresh.memory, headers, i, &header);
       ++i) {
    if (header.type == PT_DYNAMIC) {
      return header.address + bias;
    }
  }
  return 0;
}

// Adds the executable; returns the run-time address of its dynamic section.
uint64_t AddMain(Refresh* refresh, Image* image) {
  const ProcessVectors& vectors = *refresh->vectors;
  const ProgramHeaders headers = {
      vectors.program_headers,
      static_cast<uint32_t>(vectors.program_header_count),
      static_cast<uint32_t>(vectors.program_header_bytes)};
  if (headers.address == 0) {
    return 0;
  }
  const uint64_t bias = MainBias(*refresh, headers);
  const uint64_t dynamic = DynamicOf(*refresh, headers, bias);
  if (vectors.executable_path != nullptr) {
    SetPath(image,
            vectors.executable_path,
            safe::Length(vectors.executable_path, 4096));
  }
  AddImage(refresh, headers, bias, dynamic, false, image);
  return dynamic;
}

// The address of r_debug: value of DT_DEBUG, 0 when there is none (yet).
uint64_t DebugAddress(const safe::MemoryReader& memory, uint64_t dynamic) {
  constexpr uint32_t kAtOnce = 16;
  ElfW(Dyn) entries[kAtOnce];
  for (uint32_t at = 0; dynamic != 0 && at < kMaxDynamicEntries;
       at += kAtOnce) {
    const size_t got = memory.ReadSome(
        dynamic + at * sizeof(entries[0]), entries, sizeof(entries));
    for (size_t i = 0; i < got / sizeof(entries[0]); ++i) {
      if (entries[i].d_tag == DT_NULL) {
        return 0;
      }
      if (entries[i].d_tag == DT_DEBUG) {
        return entries[i].d_un.d_ptr;
      }
    }
    if (got < sizeof(entries)) {
      return 0;
    }
  }
  return 0;
}

// Headers of a library that the loader lists: at its load bias, or, for one
// linked to a fixed address, at a page below its dynamic section.
bool FindHeaders(const Refresh& refresh,
                 uint64_t bias,
                 uint64_t dynamic,
                 ProgramHeaders* headers) {
  if (ReadElfHeader(refresh.memory, bias, headers)) {
    return true;
  }
  const uint64_t page_bytes = refresh.vectors->page_bytes;
  uint64_t page = dynamic & ~(page_bytes - 1);
  for (uint32_t i = 0; i < kMaxHeaderSearchPages && page != 0; ++i) {
    if (ReadElfHeader(refresh.memory, page, headers) &&
        DynamicOf(refresh, *headers, bias) == dynamic) {
      return true;
    }
    page -= page_bytes;
  }
  return false;
}

void AddNode(Refresh* refresh, const link_map& node, Image* image) {
  const auto bias = static_cast<uint64_t>(node.l_addr);
  const auto dynamic = reinterpret_cast<uint64_t>(node.l_ld);
  refresh->listed_loader |= bias == refresh->vectors->loader_base;
  refresh->listed_vdso |= bias == refresh->vectors->vdso;
  safe::Fill(image, 0, sizeof(*image));
  ReadPath(refresh->memory, reinterpret_cast<uint64_t>(node.l_name), image);
  const uint32_t known = FindLoaded(*refresh, bias, dynamic);
  ProgramHeaders headers = {};
  if (known != kNoImage) {
    const Image& old = refresh->table->at(known);
    if (old.refresh_stamp == refresh->stamp ||
        (SamePath(old, *image) && SameId(refresh->memory, old))) {
      MarkSeen(refresh, known);
      return;
    }
  }
  if (FindHeaders(*refresh, bias, dynamic, &headers)) {
    AddImage(refresh, headers, bias, dynamic, true, image);
  } else {
    refresh->complete = false;
  }
}

// One namespace's list. Brent's way of seeing a cycle: `anchor` moves to the
// current node at each power of two.
void WalkList(Refresh* refresh,
              uint64_t address,
              uint64_t main_dynamic,
              Image* image) {
  uint64_t anchor = 0;
  uint32_t steps = 0;
  uint32_t next_anchor = 1;
  while (address != 0) {
    link_map node;
    if (address == anchor || refresh->nodes_left == 0 ||
        !refresh->memory.ReadValue(address, &node)) {
      refresh->complete = false;
      return;
    }
    --refresh->nodes_left;
    if (++steps == next_anchor) {
      anchor = address;
      next_anchor *= 2;
    }
    // The executable's node has no name of use; it is in the table already.
    if (reinterpret_cast<uint64_t>(node.l_ld) != main_dynamic) {
      AddNode(refresh, node, image);
    }
    address = reinterpret_cast<uint64_t>(node.l_next);
  }
}

void WalkNamespaces(Refresh* refresh, uint64_t main_dynamic, Image* image) {
  uint64_t address = DebugAddress(refresh->memory, main_dynamic);
  for (uint32_t i = 0; address != 0 && i < kMaxNamespaces; ++i) {
    RawDebug debug;
    if (!refresh->memory.ReadValue(address, &debug)) {
      refresh->complete = false;
      return;
    }
    if (debug.state != r_debug::RT_CONSISTENT) {
      refresh->complete = false;
    }
    refresh->walked = refresh->walked || debug.map != 0;
    WalkList(refresh, debug.map, main_dynamic, image);
    // r_version 2 (glibc 2.35) puts the next namespace's r_debug behind it.
    ElfW(Addr) next = 0;
    if (debug.version >= 2 &&
        !refresh->memory.ReadValue(address + sizeof(debug), &next)) {
      refresh->complete = false;
    }
    address = next;
  }
}

// PT_INTERP of the executable: the loader's path.
void ReadInterpreter(const Refresh& refresh, Image* image) {
  const ProcessVectors& vectors = *refresh.vectors;
  const ProgramHeaders headers = {
      vectors.program_headers,
      static_cast<uint32_t>(vectors.program_header_count),
      static_cast<uint32_t>(vectors.program_header_bytes)};
  const uint64_t bias = MainBias(refresh, headers);
  ProgramHeader header;
  for (uint32_t i = 0; ReadProgramHeader(refresh.memory, headers, i, &header);
       ++i) {
    if (header.type == PT_INTERP) {
      ReadPath(refresh.memory, header.address + bias, image);
    }
  }
}

// An image that the kernel mapped, named by its file header.
void AddByBase(Refresh* refresh, uint64_t base, Image* image) {
  ProgramHeaders headers;
  uint64_t bias = 0;
  if (base != 0 && ReadElfHeader(refresh->memory, base, &headers) &&
      LoadBiasFromBase(refresh->memory,
                       headers,
                       base,
                       refresh->vectors->page_bytes,
                       &bias)) {
    AddImage(refresh,
             headers,
             bias,
             DynamicOf(*refresh, headers, bias),
             false,
             image);
  }
}

// The loader and the vDSO, where no list has them.
void AddUnlisted(Refresh* refresh, Image* image) {
  if (!refresh->listed_loader) {
    safe::Fill(image, 0, sizeof(*image));
    ReadInterpreter(*refresh, image);
    AddByBase(refresh, refresh->vectors->loader_base, image);
  }
  if (!refresh->listed_vdso) {
    safe::Fill(image, 0, sizeof(*image));
    SetPath(image, kVdsoPath, sizeof(kVdsoPath) - 1);
    AddByBase(refresh, refresh->vectors->vdso, image);
  }
}

void MarkUnseen(Refresh* refresh) {
  for (uint32_t i = 0; i < refresh->table->count(); ++i) {
    const Image& image = refresh->table->at(i);
    if (image.unloaded == 0 && image.refresh_stamp != refresh->stamp) {
      refresh->table->MarkUnloaded(i);
      refresh->changed = true;
    }
  }
}

}  // namespace

uint32_t RefreshImages(ImageTable* table,
                       const ProcessVectors& vectors,
                       const safe::MemoryReader& memory) {
  Refresh refresh = {.table = table, .vectors = &vectors, .memory = memory};
  refresh.stamp = table->NextRefreshStamp();
  refresh.nodes_left = table->capacity() + kMaxNodesBeyondCapacity;
  Image image = {};  // one for all: it is the largest thing on this stack
  const uint64_t main_dynamic = AddMain(&refresh, &image);
  WalkNamespaces(&refresh, main_dynamic, &image);
  AddUnlisted(&refresh, &image);
  if (refresh.walked && refresh.complete) {
    MarkUnseen(&refresh);
  }
  table->SetDropped(refresh.dropped);
  if (refresh.changed) {
    table->Reindex();
  }
  return refresh.added;
}

}  // namespace cairn::capture
