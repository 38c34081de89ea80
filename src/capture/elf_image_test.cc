// SPDX-License-Identifier: Apache-2.0
#include "capture/elf_image.h"

#include <elf.h>
#include <gtest/gtest.h>

#include "capture/fake_memory.h"

namespace cairn::capture {
namespace {

using Bytes = std::vector<uint8_t>;

template <typename T>
void AppendValue(Bytes* bytes, const T& value) {
  const auto* raw = reinterpret_cast<const uint8_t*>(&value);
  bytes->insert(bytes->end(), raw, raw + sizeof(T));
}

Bytes Note(uint32_t type, const std::string& name, const Bytes& content) {
  Bytes note;
  AppendValue(&note,
              Elf32_Nhdr{static_cast<Elf32_Word>(name.size()),
                         static_cast<Elf32_Word>(content.size()),
                         type});
  note.insert(note.end(), name.begin(), name.end());
  note.resize((note.size() + 3) & ~size_t{3});
  note.insert(note.end(), content.begin(), content.end());
  note.resize((note.size() + 3) & ~size_t{3});
  return note;
}

const std::string kGnu("GNU\0", 4);

// An image of one class in fake memory.
struct Builder {
  std::vector<Elf64_Phdr> headers;
  FakeMemory memory;

  void Add(uint32_t type,
           uint32_t flags,
           uint64_t address,
           uint64_t bytes,
           uint64_t align = 4) {
    headers.push_back({type, flags, address, address, 0, bytes, bytes, align});
  }
  ProgramHeaders Store(uint64_t at) {
    Bytes bytes;
    for (const auto& header : headers) {
      AppendValue(&bytes, header);
    }
    memory.Put(at, bytes);
    return {at, static_cast<uint32_t>(headers.size()), kProgramHeaderBytes64};
  }
};

TEST(ElfImage, SegmentsArePageRoundedAndMoved) {
  Builder b;
  b.Add(PT_LOAD, PF_R, 0, 0x10);
  b.Add(PT_LOAD, PF_R | PF_X, 0x1010, 0x1000);
  b.Add(PT_LOAD, PF_R | PF_W, 0x5ff8, 0x10);
  b.Add(PT_DYNAMIC, PF_R, 0x5ff8, 0x8);
  b.Add(PT_GNU_EH_FRAME, PF_R, 0x8, 0x8);
  const ProgramHeaders headers = b.Store(0x900000);
  Image image = {};
  ASSERT_TRUE(
      FillElfImage(b.memory.reader(), headers, 0x7000000, 4096, &image));
  EXPECT_EQ(image.address, 0x7000000u);
  EXPECT_EQ(image.bytes, 0x7000u);
  EXPECT_EQ(image.link_bias, 0x7000000u);
  EXPECT_EQ(image.dynamic, 0x7005ff8u);
  EXPECT_EQ(image.eh_frame_hdr, 0x7000008u);
  EXPECT_EQ(image.eh_frame_hdr_bytes, 8u);
  ASSERT_EQ(image.segment_count, 3u);
  EXPECT_EQ(image.segments[1].address, 0x7001000u);
  EXPECT_EQ(image.segments[1].bytes, 0x2000u);
  EXPECT_EQ(image.segments[1].flags, uint32_t{PF_R | PF_X});
  EXPECT_EQ(image.segments[2].address, 0x7005000u);
  EXPECT_EQ(image.segments[2].bytes, 0x2000u);
}

// The vDSO of old kernels and prelinked libraries: linked above where it runs.
TEST(ElfImage, A6_16_BiasMayWrap) {
  Builder b;
  b.Add(PT_LOAD, PF_R | PF_X, 0xffffffffff700000, 0x1000);
  b.headers.back().p_offset = 0;
  const ProgramHeaders headers = b.Store(0x900000);
  uint64_t bias = 0;
  ASSERT_TRUE(
      LoadBiasFromBase(b.memory.reader(), headers, 0x7fff0000, 4096, &bias));
  Image image = {};
  ASSERT_TRUE(FillElfImage(b.memory.reader(), headers, bias, 4096, &image));
  EXPECT_EQ(image.address, 0x7fff0000u);
  EXPECT_EQ(image.bytes, 0x1000u);
}

TEST(ElfImage, A6_17_BuildIdWinsOverOtherNotes) {
  Builder b;
  const Bytes id = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                    11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  Bytes notes = Note(NT_GNU_BUILD_ID, std::string("Go\0\0", 4), Bytes(20, 9));
  const Bytes abi = Note(NT_GNU_ABI_TAG, kGnu, Bytes(16, 8));
  notes.insert(notes.end(), abi.begin(), abi.end());
  const Bytes longer =
      Note(NT_GNU_BUILD_ID, std::string("GNU\0GNU", 8), Bytes(20, 7));
  notes.insert(notes.end(), longer.begin(), longer.end());
  const Bytes real = Note(NT_GNU_BUILD_ID, kGnu, id);
  b.Add(PT_NOTE, PF_R, 0x200, notes.size());
  b.Add(PT_NOTE, PF_R, 0x800, real.size());
  b.Add(PT_LOAD, PF_R, 0, 0x1000);
  b.memory.Put(0x10200, notes);
  b.memory.Put(0x10800, real);
  Image image = {};
  ASSERT_TRUE(FillElfImage(
      b.memory.reader(), b.Store(0x900000), 0x10000, 4096, &image));
  EXPECT_EQ(Bytes(image.id, image.id + image.id_bytes), id);
  EXPECT_EQ(image.id_derived, 0u);
  EXPECT_EQ(image.id_address, 0x10800u + 16);
}

TEST(ElfImage, A4_8_NoteSizesThatLieAreRefused) {
  for (const uint32_t name_bytes : {4u, 0u, 0xffffffffu, 0xfffffff0u}) {
    for (const uint32_t id_bytes : {0u, 33u, 0x7fffffffu, 0xffffffffu}) {
      Builder b;
      Bytes note;
      AppendValue(&note, Elf32_Nhdr{name_bytes, id_bytes, NT_GNU_BUILD_ID});
      note.insert(note.end(), kGnu.begin(), kGnu.end());
      note.resize(200, 0x55);
      b.Add(PT_NOTE, PF_R, 0x200, note.size());
      b.Add(PT_LOAD, PF_R, 0, 0x1000);
      b.memory.Put(0x10200, note);
      Image image = {};
      ASSERT_TRUE(FillElfImage(
          b.memory.reader(), b.Store(0x900000), 0x10000, 4096, &image));
      EXPECT_EQ(image.id_bytes, 0u) << name_bytes << " " << id_bytes;
    }
  }
}

TEST(ElfImage, A6_18_IdIsFoldedFromTheFirstPageOfCode) {
  Builder b;
  b.Add(PT_LOAD, PF_R, 0, 0x1000);
  b.Add(PT_LOAD, PF_R | PF_X, 0x1010, 5000);
  Bytes code(5000);
  uint8_t expected[16] = {};
  for (size_t i = 0; i < code.size(); ++i) {
    code[i] = static_cast<uint8_t>(i * 13 + i / 256);
    if (i < 4096) {
      expected[i % 16] ^= code[i];
    }
  }
  b.memory.Put(0x11010, code);
  Image image = {};
  ASSERT_TRUE(FillElfImage(
      b.memory.reader(), b.Store(0x900000), 0x10000, 4096, &image));
  EXPECT_EQ(image.id_derived, 1u);
  EXPECT_EQ(Bytes(image.id, image.id + image.id_bytes),
            Bytes(expected, expected + 16));
}

TEST(ElfImage, TooManySegmentsKeepTheExecutableOnes) {
  Builder b;
  for (uint64_t i = 0; i < 20; ++i) {
    const bool code = i == 3 || i == 17;
    b.Add(PT_LOAD, code ? PF_R | PF_X : PF_R, i * 0x4000, 0x1000);
  }
  Image image = {};
  ASSERT_TRUE(
      FillElfImage(b.memory.reader(), b.Store(0x900000), 0, 4096, &image));
  EXPECT_EQ(image.segment_count, kMaxImageSegments);
  std::vector<uint64_t> code;
  for (const auto& segment : image.segments) {
    if ((segment.flags & kSegmentExecute) != 0) {
      code.push_back(segment.address);
    }
  }
  EXPECT_EQ(code, (std::vector<uint64_t>{0x3 * 0x4000, 17 * 0x4000}));
}

TEST(ElfImage, A4_9_HeaderWithoutSectionsOrProgramHeaders) {
  FakeMemory memory;
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  memory.PutValue(0x1000, header);
  ProgramHeaders headers;
  EXPECT_FALSE(ReadElfHeader(memory.reader(), 0x1000, &headers));
  EXPECT_FALSE(ReadElfHeader(memory.reader(), 0x1001, &headers));
  EXPECT_FALSE(ReadElfHeader(memory.reader(), 0, &headers));
  header.e_phnum = 3;
  header.e_phentsize = 8;
  memory.PutValue(0x1000, header);
  EXPECT_FALSE(ReadElfHeader(memory.reader(), 0x1000, &headers));
}

TEST(ElfImage, HeaderOfThirtyTwoBits) {
  FakeMemory memory;
  Elf32_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS32;
  header.e_phoff = 52;
  header.e_phnum = 1;
  header.e_phentsize = sizeof(Elf32_Phdr);
  memory.PutValue(0x1000, header);
  memory.PutValue(0x1000 + 52,
                  Elf32_Phdr{PT_LOAD, 0, 0x8048000, 0, 9, 17, PF_R | PF_X, 4});
  ProgramHeaders headers;
  ASSERT_TRUE(ReadElfHeader(memory.reader(), 0x1000, &headers));
  ProgramHeader first;
  ASSERT_TRUE(ReadProgramHeader(memory.reader(), headers, 0, &first));
  EXPECT_EQ(first.address, 0x8048000u);
  EXPECT_EQ(first.file_bytes, 9u);
  EXPECT_EQ(first.memory_bytes, 17u);
  EXPECT_EQ(first.flags, uint32_t{PF_R | PF_X});
  EXPECT_FALSE(ReadProgramHeader(memory.reader(), headers, 1, &first));
}

}  // namespace
}  // namespace cairn::capture
