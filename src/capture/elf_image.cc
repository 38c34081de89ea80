// SPDX-License-Identifier: Apache-2.0
#include "capture/elf_image.h"

#include <elf.h>

#include "capture/eh_frame_search.h"
#include "safe/bytes.h"

namespace cairn::capture {
namespace {

// Notes of one segment that are looked at, and the bytes they may span: real
// ones have two or three notes in under 200 bytes.
constexpr uint32_t kMaxNotes = 64;
constexpr uint64_t kMaxNoteBytes = 64 * 1024;
constexpr uint64_t kFoldedBytes = 4096;
constexpr uint32_t kFoldedIdBytes = 16;

uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) & ~(unit - 1);
}

template <typename Header>
ProgramHeaders HeadersOf(const Header& header, uint64_t base) {
  return {base + header.e_phoff, header.e_phnum, header.e_phentsize};
}

template <typename Phdr>
bool ReadHeaderAs(const safe::MemoryReader& memory,
                  uint64_t address,
                  ProgramHeader* out) {
  Phdr raw;
  if (!memory.ReadValue(address, &raw)) {
    return false;
  }
  *out = {raw.p_type,
          raw.p_flags,
          raw.p_offset,
          raw.p_vaddr,
          raw.p_filesz,
          raw.p_memsz,
          raw.p_align};
  return true;
}

// Two segments that touch and allow the same are one; with too many, the
// executable ones stay.
void AddSegment(Image* image, const ImageSegment& segment) {
  if (image->segment_count > 0) {
    ImageSegment& last = image->segments[image->segment_count - 1];
    if (last.address + last.bytes == segment.address &&
        last.flags == segment.flags) {
      last.bytes += segment.bytes;
      return;
    }
  }
  if (image->segment_count < kMaxImageSegments) {
    image->segments[image->segment_count++] = segment;
    return;
  }
  if ((segment.flags & kSegmentExecute) == 0) {
    return;
  }
  for (uint32_t i = kMaxImageSegments; i > 0; --i) {
    if ((image->segments[i - 1].flags & kSegmentExecute) == 0) {
      image->segments[i - 1] = segment;
      return;
    }
  }
}

void AddLoad(const ProgramHeader& header, uint64_t page_bytes, Image* image) {
  const uint64_t low = header.address & ~(page_bytes - 1);
  const uint64_t high =
      RoundUp(header.address + header.memory_bytes, page_bytes);
  if (header.memory_bytes == 0 || high <= low) {
    return;  // empty, or its end wraps
  }
  // While collecting, `address` and `bytes` are linked low and high ends.
  if (image->bytes == 0 || low < image->address) {
    image->address = low;
  }
  if (high > image->bytes) {
    image->bytes = high;
  }
  // The ELF flag bits are those of SegmentFlags.
  AddSegment(image, {low + image->link_bias, high - low, header.flags & 7, 0});
}

// Looks for the build-id in one PT_NOTE segment.
bool ReadBuildId(const safe::MemoryReader& memory,
                 uint64_t address,
                 const ProgramHeader& header,
                 Image* image) {
  const uint64_t align = header.align == 8 ? 8 : 4;
  const uint64_t bytes =
      header.memory_bytes < kMaxNoteBytes ? header.memory_bytes : kMaxNoteBytes;
  uint64_t at = 0;
  for (uint32_t i = 0; i < kMaxNotes && at + sizeof(Elf32_Nhdr) <= bytes; ++i) {
    struct {
      Elf32_Nhdr header;  // the same in both classes
      char name[4];
    } note = {};
    if (memory.ReadSome(address + at, &note, sizeof(note)) <
        sizeof(note.header)) {
      return false;
    }
    const uint64_t name_at = at + sizeof(note.header);
    const uint64_t id_at = RoundUp(name_at + note.header.n_namesz, align);
    const uint64_t end = id_at + note.header.n_descsz;
    if (id_at > bytes || end > bytes) {
      return false;
    }
    if (note.header.n_type == NT_GNU_BUILD_ID && note.header.n_namesz == 4 &&
        safe::Equal(note.name, "GNU", 4) && note.header.n_descsz > 0 &&
        note.header.n_descsz <= kMaxImageIdBytes &&
        memory.Read(address + id_at, image->id, note.header.n_descsz)) {
      image->id_bytes = note.header.n_descsz;
      image->id_address = address + id_at;
      return true;
    }
    at = RoundUp(end, align);
  }
  return false;
}

void DeriveId(const safe::MemoryReader& memory,
              uint64_t address,
              uint64_t bytes,
              Image* image) {
  safe::Fill(image->id, 0, kMaxImageIdBytes);
  uint8_t chunk[256];
  for (uint64_t at = 0; at < bytes;) {
    const uint64_t left = bytes - at;
    const size_t wanted = left < sizeof(chunk) ? left : sizeof(chunk);
    if (!memory.Read(address + at, chunk, wanted)) {
      return;
    }
    for (size_t i = 0; i < wanted; ++i) {
      image->id[(at + i) % kFoldedIdBytes] ^= chunk[i];
    }
    at += wanted;
  }
  image->id_bytes = bytes == 0 ? 0 : kFoldedIdBytes;
  image->id_derived = image->id_bytes == 0 ? 0 : 1;
}

}  // namespace

bool ReadElfHeader(const safe::MemoryReader& memory,
                   uint64_t base,
                   ProgramHeaders* headers) {
  union {
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;
    uint8_t ident[EI_NIDENT];
  } header = {};
  if (memory.ReadSome(base, &header, sizeof(header)) < sizeof(header.narrow) ||
      !safe::Equal(header.ident, ELFMAG, SELFMAG)) {
    return false;
  }
  uint32_t expected = kProgramHeaderBytes64;
  if (header.ident[EI_CLASS] == ELFCLASS64) {
    *headers = HeadersOf(header.wide, base);
  } else {
    *headers = HeadersOf(header.narrow, base);
    expected = kProgramHeaderBytes32;
  }
  return headers->entry_bytes == expected && headers->count > 0;
}

bool ReadProgramHeader(const safe::MemoryReader& memory,
                       const ProgramHeaders& headers,
                       uint32_t index,
                       ProgramHeader* header) {
  if (index >= headers.count || index >= kMaxProgramHeaders) {
    return false;
  }
  const uint64_t address =
      headers.address + uint64_t{index} * headers.entry_bytes;
  if (headers.entry_bytes == kProgramHeaderBytes64) {
    return ReadHeaderAs<Elf64_Phdr>(memory, address, header);
  }
  if (headers.entry_bytes == kProgramHeaderBytes32) {
    return ReadHeaderAs<Elf32_Phdr>(memory, address, header);
  }
  return false;
}

bool LoadBiasFromBase(const safe::MemoryReader& memory,
                      const ProgramHeaders& headers,
                      uint64_t base,
                      uint64_t page_bytes,
                      uint64_t* bias) {
  ProgramHeader header;
  for (uint32_t i = 0; ReadProgramHeader(memory, headers, i, &header); ++i) {
    if (header.type == PT_LOAD) {
      // Lowest first, by the ELF specification.
      *bias = base - ((header.address - header.offset) & ~(page_bytes - 1));
      return true;
    }
  }
  return false;
}

bool FillElfImage(const safe::MemoryReader& memory,
                  const ProgramHeaders& headers,
                  uint64_t bias,
                  uint64_t page_bytes,
                  Image* image) {
  uint64_t code = 0;
  uint64_t code_bytes = 0;
  image->link_bias = bias;
  ProgramHeader header;
  for (uint32_t i = 0; ReadProgramHeader(memory, headers, i, &header); ++i) {
    const uint64_t address = header.address + bias;
    if (header.type == PT_LOAD) {
      AddLoad(header, page_bytes, image);
      if (code_bytes == 0 && (header.flags & PF_X) != 0) {
        code = address;
        code_bytes = header.file_bytes;
      }
    } else if (header.type == PT_DYNAMIC) {
      image->dynamic = address;
    } else if (header.type == PT_GNU_EH_FRAME) {
      image->eh_frame_hdr = address;
      image->eh_frame_hdr_bytes = header.memory_bytes;
    } else if (header.type == PT_NOTE && image->id_bytes == 0) {
      ReadBuildId(memory, address, header, image);
    }
  }
  if (image->bytes == 0) {
    return false;
  }
  image->bytes -= image->address;
  image->address += bias;
  if (image->eh_frame_hdr == 0) {
    FindEhFrame(
        memory, headers.entry_bytes == kProgramHeaderBytes32 ? 4 : 8, image);
  }
  if (image->id_bytes == 0) {
    DeriveId(memory,
             code,
             code_bytes < kFoldedBytes ? code_bytes : kFoldedBytes,
             image);
  }
  return true;
}

}  // namespace cairn::capture
