// SPDX-License-Identifier: Apache-2.0
#include "capture/cfi_table.h"

#include <gtest/gtest.h>

#include "capture/cfi_builder.h"
#include "capture/fake_memory.h"

namespace cairn::capture {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kFrames = 0x1000000;
constexpr uint64_t kHeader = 0x10000;
const Bytes kProgram = {0x0c, 7, 8, 0x90, 1};

struct Fixture {
  FakeMemory memory;
  CfiBuilder builder{kFrames};
  CfiTables tables = {kHeader, 0, 0, 0};
  uint32_t budget = 100000;

  void Store() {
    const Bytes header = builder.Header(kHeader);
    tables.header_bytes = header.size();
    memory.Put(kHeader, header);
    memory.Put(kFrames, builder.section());
  }
  CfiLookup Find(uint64_t address, CfiEntry* entry) {
    return FindCfi(memory.reader(), tables, address, 8, &budget, entry);
  }
};

TEST(CfiTable, EveryFunctionOfManyIsFoundAndGapsAreNot) {
  for (const uint64_t count : {1u, 2u, 15u, 16u, 17u, 33u, 500u}) {
    Fixture f;
    const size_t cie = f.builder.AddCie("zR", {0x1b}, kProgram);
    for (uint64_t i = 0; i < count; ++i) {
      f.builder.AddFde(cie, 0x400000 + i * 0x100, 0xf0, {});
    }
    f.Store();
    CfiEntry entry;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t begin = 0x400000 + i * 0x100;
      ASSERT_EQ(f.Find(begin, &entry), CfiLookup::kFound);
      ASSERT_EQ(entry.begin, begin);
      ASSERT_EQ(entry.end, begin + 0xf0);
      ASSERT_EQ(f.Find(begin + 0xef, &entry), CfiLookup::kFound);
      ASSERT_EQ(f.Find(begin + 0xf0, &entry), CfiLookup::kNone);
    }
    EXPECT_EQ(f.Find(0x3fffff, &entry), CfiLookup::kNone);
    EXPECT_EQ(f.budget, 100000u);  // the table was enough
  }
}

TEST(CfiTable, SearchNeedsFewReads) {
  Fixture f;
  const size_t cie = f.builder.AddCie("zR", {0x1b}, kProgram);
  for (uint64_t i = 0; i < 20000; ++i) {
    f.builder.AddFde(cie, 0x400000 + i * 0x100, 0xf0, {});
  }
  f.Store();
  CfiEntry entry;
  f.memory.ResetReads();
  ASSERT_EQ(f.Find(0x400000 + 0x100 * 12345, &entry), CfiLookup::kFound);
  EXPECT_LE(f.memory.reads(), 20u);
}

TEST(CfiTable, A3_34_FieldsAndAugmentationsOfTheCie) {
  Fixture f;
  // A personality of four bytes, an LSDA encoding, the pointer encoding, S, B.
  const size_t cie =
      f.builder.AddCie("zPLRSB", {0x9b, 1, 2, 3, 4, 0x1b, 0x1b}, kProgram, 30);
  f.builder.AddFde(cie, 0x400000, 16, {0x41});
  f.Store();
  CfiEntry entry;
  ASSERT_EQ(f.Find(0x400000, &entry), CfiLookup::kFound);
  EXPECT_TRUE(entry.signal_frame);
  EXPECT_EQ(entry.return_register, 30u);
  EXPECT_EQ(entry.data_align, -8);
  EXPECT_EQ(entry.code_align, 1u);
  EXPECT_EQ(entry.pointer_encoding, 0x1b);
  uint8_t first = 0;
  ASSERT_TRUE(f.memory.reader().ReadValue(entry.initial_program, &first));
  EXPECT_EQ(first, 0x0c);
  ASSERT_TRUE(f.memory.reader().ReadValue(entry.program, &first));
  EXPECT_EQ(first, 0x41);
}

TEST(CfiTable, AbsoluteAddressesAndVersions) {
  for (const uint8_t version : Bytes{1, 3, 4}) {
    Fixture f;
    const size_t cie = f.builder.AddCie("zR", {0x00}, kProgram, 16, version);
    f.builder.AddFde(cie, 0x400000, 16, {}, true);
    f.Store();
    CfiEntry entry;
    EXPECT_EQ(f.Find(0x400008, &entry), CfiLookup::kFound) << int{version};
    EXPECT_EQ(entry.end, 0x400010u);
  }
  Fixture f;
  const size_t cie = f.builder.AddCie("zR", {0x00}, kProgram, 16, 2);
  f.builder.AddFde(cie, 0x400000, 16, {}, true);
  f.Store();
  CfiEntry entry;
  EXPECT_NE(f.Find(0x400008, &entry), CfiLookup::kFound);
}

// A CIE (id of all ones, as .debug_frame has it) and two FDEs whose pointer to
// it counts from the section's start; addresses are absolute.
Bytes DebugSection(size_t cie_offset) {
  Bytes section(cie_offset);
  const Bytes cie = {0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 1, 0x78, 16};
  CfiBuilder::Put(&section, cie.size() + kProgram.size(), 4);
  section.insert(section.end(), cie.begin(), cie.end());
  section.insert(section.end(), kProgram.begin(), kProgram.end());
  for (const uint64_t begin : {0x1000, 0x2000}) {
    CfiBuilder::Put(&section, 4 + 8 + 8, 4);
    CfiBuilder::Put(&section, cie_offset, 4);
    CfiBuilder::Put(&section, begin, 8);
    CfiBuilder::Put(&section, 0x100, 8);
  }
  return section;
}

TEST(CfiTable, DebugFrameCountsFromTheSectionsStart) {
  for (const uint64_t address : {uint64_t{0}, kFrames}) {
    FakeMemory memory;
    const Bytes section = DebugSection(0);
    memory.Put(address, section);
    const DebugFrames frames = {memory.reader(), address, section.size()};
    uint32_t budget = 100;
    CfiEntry entry;
    ASSERT_EQ(FindDebugFrame(frames, 0x20ff, 8, &budget, &entry),
              CfiLookup::kFound);
    EXPECT_EQ(entry.begin, 0x2000u);
    EXPECT_EQ(entry.end, 0x2100u);
    EXPECT_EQ(entry.return_register, 16u);
    EXPECT_EQ(FindDebugFrame(frames, 0x1100, 8, &budget, &entry),
              CfiLookup::kNone);
    budget = 2;
    EXPECT_EQ(FindDebugFrame(frames, 0x2000, 8, &budget, &entry),
              CfiLookup::kNone);
  }
}

TEST(CfiTable, UnusableHeaderFallsBackToReadingAll) {
  for (const int broken : {0, 2, 3}) {  // version, count and table encodings
    Fixture f;
    const size_t cie = f.builder.AddCie("zR", {0x1b}, kProgram);
    for (uint64_t i = 0; i < 40; ++i) {
      f.builder.AddFde(cie, 0x400000 + i * 0x100, 0xf0, {});
    }
    f.builder.AddTerminator();
    Bytes header = f.builder.Header(kHeader);
    header[static_cast<size_t>(broken)] = broken == 0 ? 9 : 0xff;
    f.tables.header_bytes = header.size();
    f.memory.Put(kHeader, header);
    f.memory.Put(kFrames, f.builder.section());
    if (broken == 0) {
      f.tables.frames = kFrames;
      f.tables.frames_bytes = f.builder.section().size();
    }
    CfiEntry entry;
    EXPECT_EQ(f.Find(0x400000 + 0x1100, &entry), CfiLookup::kFound) << broken;
    EXPECT_EQ(entry.begin, 0x401100u);
    EXPECT_LT(f.budget, 100000u);
    EXPECT_EQ(f.Find(0x500000, &entry), CfiLookup::kNone);
    f.budget = 3;
    EXPECT_EQ(f.Find(0x401100, &entry), CfiLookup::kNone);
    EXPECT_EQ(f.budget, 0u);
  }
}

TEST(CfiTable, A3_36_OneBadEntryIsPassedBy) {
  Fixture f;
  f.tables = {0, 0, kFrames, 0};
  const size_t cie = f.builder.AddCie("zR", {0x1b}, kProgram);
  f.builder.AddFde(cie, 0x400000, 0x10, {});
  // An FDE whose CIE pointer leads nowhere.
  f.builder.AddRaw({12, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  f.builder.AddFde(cie, 0x401000, 0x10, {});
  f.builder.AddTerminator();
  f.memory.Put(kFrames, f.builder.section());
  f.tables.frames_bytes = f.builder.section().size();
  CfiEntry entry;
  EXPECT_EQ(f.Find(0x401008, &entry), CfiLookup::kFound);
}

TEST(CfiTable, A4_4_SizesThatLieEndTheSearch) {
  for (const uint32_t length : {0xfffffff0u, 0x7fffffffu, 0xffffffffu, 1u}) {
    Fixture f;
    Bytes raw;
    CfiBuilder::Put(&raw, length, 4);
    raw.resize(64, 0xff);
    f.memory.Put(kFrames, raw);
    f.tables = {0, 0, kFrames, raw.size()};
    CfiEntry entry;
    EXPECT_NE(f.Find(0x400000, &entry), CfiLookup::kFound);
    EXPECT_GT(f.budget, 99000u);
  }
}

// A guard behind the table: every cut of the section ends cleanly.
TEST(CfiTable, EveryCutOfTheTablesIsSurvived) {
  Fixture f;
  const size_t cie =
      f.builder.AddCie("zPLR", {0x9b, 1, 2, 3, 4, 0x1b, 0x1b}, kProgram);
  const size_t fde = f.builder.AddFde(cie, 0x400000, 0x10, {0x41, 0x0e, 16});
  f.builder.AddTerminator();
  f.Store();
  const Bytes whole = f.builder.section();
  const Bytes header = f.builder.Header(kHeader);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    f.memory.Put(kFrames, Bytes(whole.begin(), whole.begin() + bytes));
    CfiEntry entry;
    const CfiLookup found = f.Find(0x400000, &entry);
    // Length, CIE pointer, two addresses, augmentation length.
    EXPECT_EQ(found == CfiLookup::kFound, bytes >= fde + 17) << bytes;
  }
  f.memory.Put(kFrames, whole);
  for (size_t bytes = 0; bytes < header.size(); ++bytes) {
    f.memory.Put(kHeader, Bytes(header.begin(), header.begin() + bytes));
    f.tables.header_bytes = bytes;
    CfiEntry entry;
    f.Find(0x400000, &entry);  // ends, with whatever is readable
  }
}

}  // namespace
}  // namespace cairn::capture
