// SPDX-License-Identifier: Apache-2.0
//
// Real Mach-O files laid out in memory as dyld would, at a slide: the image
// reader of the crash-time code, and symbol look-up without a file.
#include <gtest/gtest.h>

#include <memory>

#include "capture/fake_memory.h"
#include "capture/macho_image.h"
#include "llvm_tools.h"
#include "symbolicate/debug_files.h"
#include "symbolicate/loaded_macho.h"
#include "symbolicate/macho_symbols.h"

namespace cairn::macho_test {
namespace {

constexpr uint64_t kSlide = 0x7354000;

struct Loaded {
  capture::FakeMemory memory;
  uint64_t header = 0;
  capture::MachOFacts facts;
  capture::Image image;
};

std::unique_ptr<Loaded> Load(const std::string& path) {
  auto loaded = std::make_unique<Loaded>();
  const auto bytes = Bytes(path);
  for (const Segment& segment : Segments(path)) {
    if (segment.name == "__PAGEZERO") {
      continue;
    }
    std::vector<uint8_t> content(segment.bytes);
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(segment.offset),
                std::min(segment.file_bytes, segment.bytes),
                content.begin());
    loaded->memory.Put(segment.address + kSlide, content);
    if (segment.name == "__TEXT") {
      loaded->header = segment.address + kSlide;
    }
  }
  EXPECT_TRUE(capture::FillMachOImage(
      loaded->memory.reader(), loaded->header, &loaded->facts, &loaded->image));
  return loaded;
}

class LoadedFile : public testing::TestWithParam<const char*> {};

TEST_P(LoadedFile, S1_6_SegmentsAndUuidAreThoseOfTheFile) {
  const std::string path = File(GetParam());
  const auto loaded = Load(path);
  const capture::Image& image = loaded->image;
  EXPECT_TRUE(loaded->facts.whole);
  EXPECT_EQ(loaded->facts.slide, kSlide);
  EXPECT_EQ(symbolicate::Hex({image.id, image.id + image.id_bytes}),
            Uuid(path));
  size_t index = 0;
  for (const Segment& segment : Segments(path)) {
    if (segment.name == "__PAGEZERO") {
      continue;
    }
    ASSERT_LT(index, image.segment_count);
    EXPECT_EQ(image.segments[index].address, segment.address + kSlide);
    EXPECT_EQ(image.segments[index].bytes, segment.bytes);
    EXPECT_EQ((image.segments[index].flags & capture::kSegmentExecute) != 0,
              segment.protection == "r-x");
    ++index;
  }
  EXPECT_EQ(index, image.segment_count);
  const Range unwind = Section(path, "__unwind_info");
  EXPECT_EQ(image.unwind_info, unwind.address + kSlide);
  EXPECT_EQ(image.unwind_info_bytes, unwind.end - unwind.address);
}

// symoff and stroff become addresses through __LINKEDIT.
TEST_P(LoadedFile, S1_7_S2_3_SymbolsAreFoundInMemory) {
  const std::string path = File(GetParam());
  const auto loaded = Load(path);
  std::string error;
  const auto file = symbolicate::ParseLoadedMachO(
      loaded->memory.reader(), loaded->header, &error);
  ASSERT_TRUE(file) << error;
  const symbolicate::MachOSymbols symbols(file, file);
  size_t found = 0;
  for (const auto& [address, names] : NmText(path)) {
    const auto function = symbols.Find(address);
    ASSERT_TRUE(function) << std::hex << address;
    EXPECT_EQ(function->start, address);
    found +=
        names.all.count("_" + function->name) + names.all.count(function->name);
  }
  EXPECT_EQ(found, NmText(path).size());
}

TEST_P(LoadedFile, A4_19_FewReads) {
  const std::string path = File(GetParam());
  const auto loaded = Load(path);
  loaded->memory.ResetReads();
  ASSERT_TRUE(capture::FillMachOImage(
      loaded->memory.reader(), loaded->header, &loaded->facts, &loaded->image));
  EXPECT_LE(loaded->memory.reads(), 10u);
}

INSTANTIATE_TEST_SUITE_P(All,
                         LoadedFile,
                         testing::Values("program.x86_64",
                                         "program.arm64",
                                         "library.x86_64",
                                         "library.arm64",
                                         "chained.x86_64",
                                         "chained.arm64"));

}  // namespace
}  // namespace cairn::macho_test
