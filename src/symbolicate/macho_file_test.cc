// SPDX-License-Identifier: Apache-2.0
//
// Mach-O files made byte by byte, for what linkers do not make; real ones are
// read by tests/macho. Expectations from mach-o/nlist.h, fat.h and loader.h.
#include "symbolicate/macho_file.h"

#include <gtest/gtest.h>

#include "capture/macho_builder.h"
#include "symbolicate/macho_linkedit.h"
#include "symbolicate/macho_symbols.h"

namespace cairn::symbolicate {
namespace {

namespace macho = format::macho;
using capture::MachOBuilder;
using Bytes = std::vector<uint8_t>;

constexpr uint8_t kLocal = 0x0e, kGlobal = 0x0f, kPrivate = 0x1e, kStab = 0x24;
constexpr uint64_t kBase = 0x100000000, kText = kBase + 0x1000;
constexpr uint32_t kLinkedit = 0x2000, kStrings = 0x2800;

struct Symbol {
  std::string name;
  uint8_t type;
  uint8_t section;
  uint16_t description;
  uint64_t value;
};

// A program with __text [kText, +0x100), __const behind it and these symbols.
Bytes Program(const std::vector<Symbol>& symbols,
              const Bytes& starts = {},
              uint32_t cpu = macho::kCpuX86_64) {
  MachOBuilder b(true, cpu);
  b.Segment({"__PAGEZERO", 0, kBase});
  b.Segment({"__TEXT",
             kBase,
             0x2000,
             0,
             0x2000,
             5,
             {{"__text", kText, 0x100, 0x1000, macho::kSectionPureCode},
              {"__const", kText + 0x100, 0x100, 0x1100, 0}}});
  b.Segment({"__LINKEDIT", kBase + 0x2000, 0x2000, kLinkedit, 0x1000, 1});
  Bytes table, text = {0};
  for (const Symbol& symbol : symbols) {
    MachOBuilder::Put(&table,
                      macho::Nlist64{static_cast<uint32_t>(text.size()),
                                     symbol.type,
                                     symbol.section,
                                     symbol.description,
                                     symbol.value});
    text.insert(text.end(), symbol.name.begin(), symbol.name.end());
    text.push_back(0);
  }
  b.Command(macho::Symtab{macho::kCommandSymtab,
                          0,
                          kLinkedit,
                          static_cast<uint32_t>(symbols.size()),
                          kStrings,
                          static_cast<uint32_t>(text.size())});
  b.Command(macho::LinkeditData{macho::kCommandFunctionStarts,
                                0,
                                kStrings + 0x400,
                                static_cast<uint32_t>(starts.size())});
  Bytes file = b.Build();
  file.resize(0x3000);
  std::copy(table.begin(), table.end(), file.begin() + kLinkedit);
  std::copy(text.begin(), text.end(), file.begin() + kStrings);
  std::copy(starts.begin(), starts.end(), file.begin() + kStrings + 0x400);
  return file;
}

std::shared_ptr<const MachOFile> Parse(const Bytes& bytes) {
  std::string error;
  auto file = MachOFile::Parse(MemorySource(bytes), &error);
  EXPECT_TRUE(file) << error;
  return file;
}

std::string NameAt(const Bytes& bytes, uint64_t address) {
  const auto file = Parse(bytes);
  const auto found = MachOSymbols(file, file).Find(address);
  return found ? found->name : "";
}

TEST(MachOSymbols, S1_7_StabsUndefinedAbsoluteAndDataAreNoFunctions) {
  const Bytes file = Program({{"_stab", kStab, 1, 0, kText + 0x20},
                              {"_undefined", 0x01, 0, 0, kText + 0x20},
                              {"_absolute", 0x03, 0, 0, kText + 0x20},
                              {"_table", kGlobal, 2, 0, kText + 0x120},
                              {"_no_section", kGlobal, 9, 0, kText + 0x20},
                              {"_outside", kGlobal, 1, 0, kBase},
                              {"_main", kGlobal, 1, 0, kText + 0x10}});
  EXPECT_EQ(NameAt(file, kText + 0x20), "main");
  EXPECT_EQ(NameAt(file, kText + 0x10), "main");
  EXPECT_EQ(NameAt(file, kText + 0xff), "main");
  EXPECT_EQ(NameAt(file, kText + 0xf), "");
  EXPECT_EQ(NameAt(file, kText + 0x100), "");
  EXPECT_EQ(NameAt(file, kText + 0x120), "");
  EXPECT_EQ(NameAt(file, kBase), "");
}

TEST(MachOSymbols, S1_7_NameEndsWhereAFunctionStarts) {
  const Bytes file = Program(
      {{"_main", kGlobal, 1, 0, kText}, {"_local", kLocal, 1, 0, kText + 0x80}},
      {0x80, 0x20, 0x40, 0x40, 0});  // 0, 0x40, 0x80
  EXPECT_EQ(NameAt(file, kText + 0x3f), "main");
  EXPECT_EQ(NameAt(file, kText + 0x40), "");
  EXPECT_EQ(NameAt(file, kText + 0x7f), "");
  EXPECT_EQ(NameAt(file, kText + 0x80), "local");
}

TEST(MachOSymbols, ExportedNameWinsAtEqualAddress) {
  const Bytes file = Program({{"_weak", kGlobal, 1, macho::kSymbolWeak, kText},
                              {"_local", kLocal, 1, 0, kText},
                              {"_private", kPrivate, 1, 0, kText},
                              {"___longer", kGlobal, 1, 0, kText},
                              {"_global", kGlobal, 1, 0, kText},
                              {"-[Shop buy:]", kLocal, 1, 0, kText + 0x10}});
  EXPECT_EQ(NameAt(file, kText), "global");
  EXPECT_EQ(NameAt(file, kText + 0x10), "-[Shop buy:]");
}

TEST(MachOSymbols, S1_7_ThumbBitIsNoPartOfTheAddress) {
  const Bytes file =
      Program({{"_thumb", kGlobal, 1, macho::kSymbolThumb, kText + 0x11}},
              {0x91, 0x20, 0},
              macho::kCpuArm);
  const auto parsed = Parse(file);
  const auto found = MachOSymbols(parsed, parsed).Find(kText + 0x13);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->start, kText + 0x10);
  EXPECT_TRUE(found->thumb);
}

TEST(MachOSymbols, A4_8_NamesBeyondTheStringTableAreNone) {
  Bytes file = Program({{"_main", kGlobal, 1, 0, kText}});
  file[kLinkedit] = 200;
  EXPECT_EQ(NameAt(file, kText), "");
}

TEST(MachOFile, A4_5_CommandOfSizeZeroEndsTheList) {
  MachOBuilder b;
  b.Segment({"__TEXT", kBase, 0x1000, 0, 0x1000, 5});
  b.Raw({1, 0, 0, 0, 0, 0, 0, 0});
  b.Segment({"__LATER", kBase + 0x1000, 0x1000, 0, 0, 1});
  EXPECT_EQ(Parse(b.Build())->segments().size(), 1u);
}

TEST(MachOFile, SectionWhoseEndWrapsKeepsItsNumber) {
  MachOBuilder b;
  b.Segment({"__TEXT",
             kBase,
             0x1000,
             0,
             0x1000,
             5,
             {{"__bad", ~uint64_t{7}, 0x100}, {"__text", kBase, 0x10}}});
  const auto file = Parse(b.Build());
  ASSERT_EQ(file->sections().size(), 2u);
  EXPECT_EQ(file->sections()[0].bytes, 0u);
  EXPECT_EQ(file->SectionAt(kBase)->name, "__text");
}

Bytes BigEndian(std::initializer_list<uint32_t> words) {
  Bytes bytes;
  for (const uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<uint8_t>(word >> shift));
    }
  }
  return bytes;
}

TEST(MachOFat, SlicesOutsideTheFileOrOfAnotherCpuAreLeftOut) {
  const Bytes thin = Program({});
  const auto size = static_cast<uint32_t>(thin.size());
  Bytes fat = BigEndian({0xcafebabe,
                         3,
                         macho::kCpuX86_64,
                         3,
                         0x1000,
                         size,
                         12,
                         macho::kCpuArm64,
                         0,
                         0x1000,
                         size,
                         12,
                         macho::kCpuX86_64,
                         3,
                         0x1000,
                         size + 1,
                         12});
  fat.resize(0x1000);
  fat.insert(fat.end(), thin.begin(), thin.end());
  std::string error;
  EXPECT_TRUE(IsMachO(*MemorySource(fat)));
  const auto slices = ParseMachOSlices(MemorySource(fat), &error);
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0]->cpu_type(), macho::kCpuX86_64);
}

TEST(MachOFat, JavaClassIsNone) {
  EXPECT_FALSE(IsMachO(*MemorySource(BigEndian({0xcafebabe, 52, 0, 0}))));
}

TEST(Exports, A4_5_CyclesAndDamageEnd) {
  // A node whose only child is itself.
  EXPECT_TRUE(DecodeExports({0, 1, 'a', 0, 0}).empty());
  // The root has a child "_f" at 6: flags 0, offset 0x10, no children.
  const Bytes sound = {0, 1, '_', 'f', 0, 6, 2, 0, 0x10, 0};
  const auto found = DecodeExports(sound);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "_f");
  EXPECT_EQ(found[0].offset, 0x10u);
  for (size_t i = 0; i < sound.size(); ++i) {
    DecodeExports(Bytes(sound.begin(), sound.begin() + i));
  }
}

TEST(Exports, ReexportsAndAbsoluteValuesHaveNoAddress) {
  EXPECT_TRUE(DecodeExports({0, 1, '_', 'f', 0, 6, 2, 8, 0x10, 0}).empty());
  EXPECT_TRUE(DecodeExports({0, 1, '_', 'f', 0, 6, 2, 2, 0x10, 0}).empty());
}

TEST(FunctionStarts, ZeroEndsThem) {
  const std::vector<uint64_t> expected = {kBase + 0x90, kBase + 0x98};
  EXPECT_EQ(DecodeFunctionStarts({0x90, 0x01, 8, 0, 7}, kBase), expected);
  EXPECT_TRUE(DecodeFunctionStarts({0x80, 0x80}, kBase).empty());
}

}  // namespace
}  // namespace cairn::symbolicate
