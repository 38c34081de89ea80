// SPDX-License-Identifier: Apache-2.0
//
// The symbolicator on real Mach-O files, every symbol of them: names by
// llvm-nm, function starts and sections by llvm-objdump.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "llvm_tools.h"
#include "symbolicate/debug_files.h"
#include "symbolicate/demangle.h"
#include "symbolicate/macho_file.h"
#include "symbolicate/symbolicator.h"

namespace cairn::macho_test {
namespace {

namespace fs = std::filesystem;
using symbolicate::MachOFile;
using symbolicate::Options;
using symbolicate::Symbolicator;

std::string WithoutUnderscore(const std::string& name) {
  return name.starts_with("_") ? name.substr(1) : name;
}

std::string MangledOf(const report::SymbolFrame& frame) {
  return frame.function_mangled.empty() ? frame.function
                                        : frame.function_mangled;
}

// What stands for one look-up: "name + offset", or "".
class Asker {
 public:
  explicit Asker(std::string path, const std::string& architecture = "")
      : path_(std::move(path)),
        symbolicator_({.debug_directories = {},
                       .sysroot = "",
                       .architecture = architecture}) {}

  std::vector<report::SymbolFrame> Ask(uint64_t address) {
    std::string error;
    auto frames = symbolicator_.LookupFile(path_, address, &error);
    error_ = error;
    return frames;
  }
  const std::string& error() const { return error_; }

 private:
  std::string path_;
  Symbolicator symbolicator_;
  std::string error_;
};

struct Expectation {
  std::map<uint64_t, Names> names;
  std::vector<uint64_t> starts;  // functions
  Range text;

  // Up to where what begins at `address` reaches.
  uint64_t EndOf(uint64_t address) const {
    uint64_t end = text.end;
    const auto name = names.upper_bound(address);
    if (name != names.end()) {
      end = std::min(end, name->first);
    }
    for (const uint64_t start : starts) {
      if (start > address) {
        return std::min(end, start);
      }
    }
    return end;
  }
};

void ExpectName(Asker* asker,
                uint64_t address,
                uint64_t start,
                const Names& names) {
  const auto frames = asker->Ask(address);
  ASSERT_EQ(frames.size(), 1u) << std::hex << address << asker->error();
  const std::string mangled = MangledOf(frames[0]);
  const auto& wanted = names.external.empty() ? names.all : names.external;
  EXPECT_TRUE(std::any_of(wanted.begin(),
                          wanted.end(),
                          [&](const std::string& name) {
                            return WithoutUnderscore(name) == mangled;
                          }))
      << std::hex << address << " is " << mangled;
  EXPECT_EQ(frames[0].offset, address - start);
  EXPECT_EQ(frames[0].function, symbolicate::Demangle(mangled));
  EXPECT_TRUE(frames[0].name_sure);
}

// Start, middle, last byte of every symbol; and each gap: a function without a
// symbol, the ends of the section. Returns the number of look-ups.
// `unit` is the size of the smallest instruction.
size_t CheckAll(Asker* asker, const Expectation& expected, uint64_t unit = 1) {
  size_t asked = 0;
  for (const auto& [start, names] : expected.names) {
    const uint64_t end = expected.EndOf(start);
    for (uint64_t at : {start, start + (end - start) / 2, end - 1}) {
      ExpectName(asker, at / unit * unit, start, names);
      ++asked;
    }
  }
  for (const uint64_t start : expected.starts) {
    if (expected.names.find(start) == expected.names.end()) {
      const uint64_t end = expected.EndOf(start);
      for (uint64_t at : {start, end - 1}) {
        EXPECT_TRUE(asker->Ask(at).empty()) << std::hex << at;
        ++asked;
      }
    }
  }
  for (uint64_t at : {expected.text.address - 1, expected.text.end}) {
    EXPECT_TRUE(asker->Ask(at).empty()) << std::hex << at;
    ++asked;
  }
  return asked;
}

// One linker puts starts into data too, which are nobody's functions.
std::vector<uint64_t> StartsIn(const std::string& path, const Range& text) {
  std::vector<uint64_t> starts;
  for (const uint64_t start : FunctionStarts(path)) {
    if (start >= text.address && start < text.end) {
      starts.push_back(start);
    }
  }
  return starts;
}

Expectation Expect(const std::string& path) {
  const Range text = Section(path, "__text");
  return {NmText(path), StartsIn(path, text), text};
}

class EveryFile : public testing::TestWithParam<const char*> {};

TEST_P(EveryFile, S1_7_S5_2_NamesAreThoseOfNm) {
  for (const std::string kind :
       {"program.", "frameless.", "library.", "chained."}) {
    const std::string path = File(kind + GetParam());
    Asker asker(path, GetParam());
    const Expectation expected = Expect(path);
    ASSERT_FALSE(expected.names.empty()) << path;
    const size_t asked = CheckAll(&asker, expected);
    EXPECT_GE(asked, 3 * expected.names.size());
    std::printf("%s%s: %zu symbols, %zu functions, %zu look-ups\n",
                kind.c_str(),
                GetParam(),
                expected.names.size(),
                expected.starts.size(),
                asked);
  }
}

TEST_P(EveryFile, S1_7_A7_1_StrippedFileInventsNoName) {
  const std::string path = File(std::string("stripped.") + GetParam());
  Asker asker(path, GetParam());
  Expectation expected = Expect(path);
  for (const auto& [address, names] : Exports(path)) {
    expected.names[address].external = names;
  }
  // The addresses that the program before stripping had names for.
  size_t without = 0;
  for (const auto& [address, names] :
       NmText(File(std::string("program.") + GetParam()))) {
    if (expected.names.find(address) == expected.names.end()) {
      EXPECT_TRUE(asker.Ask(address).empty()) << std::hex << address;
      ++without;
    }
  }
  EXPECT_GT(without, 100u);
}

TEST_P(EveryFile, A7_2_StrippedLibraryHasItsExports) {
  const std::string path = File(std::string("exports.") + GetParam());
  Asker asker(path, GetParam());
  Expectation expected = Expect(path);
  for (const auto& [address, names] : Exports(path)) {
    if (address >= expected.text.address && address < expected.text.end) {
      expected.names[address] = {names, names};
    }
  }
  ASSERT_GE(expected.names.size(), 4u);
  EXPECT_GT(CheckAll(&asker, expected), expected.names.size() * 3);
}

TEST_P(EveryFile, DsymGivesTheNamesThatStripTook) {
  const std::string path = File(std::string("split.") + GetParam());
  const std::string dsym =
      path + ".dSYM/Contents/Resources/DWARF/split." + GetParam();
  ASSERT_EQ(Uuid(path), Uuid(dsym));
  Asker asker(path, GetParam());
  Expectation expected = Expect(path);
  expected.names = NmText(dsym);
  ASSERT_GT(expected.names.size(), 100u);
  CheckAll(&asker, expected);
}

report::Image ImageOf(const std::string& path, uint64_t slide) {
  report::Image image;
  image.path = path;
  uint64_t low = UINT64_MAX;
  for (const Segment& segment : Segments(path)) {
    low = segment.name == "__PAGEZERO" ? low : std::min(low, segment.address);
  }
  image.address = low + slide;
  image.link_bias = static_cast<int64_t>(slide);
  const std::string uuid = Uuid(path);
  for (size_t i = 0; i + 1 < uuid.size(); i += 2) {
    image.id.push_back(
        static_cast<uint8_t>(std::stoul(uuid.substr(i, 2), nullptr, 16)));
  }
  return image;
}

std::string NameAt(const report::Image& image,
                   uint64_t linked,
                   format::FrameKind kind,
                   const Options& options = {},
                   bool* sure = nullptr) {
  report::Report report;
  report.images = {image};
  report.threads.emplace_back();
  report::Frame frame;
  frame.image = 0;
  frame.address = linked + static_cast<uint64_t>(image.link_bias);
  frame.image_offset = frame.address - image.address;
  frame.kind = kind;
  report.threads[0].frames = {frame};
  Symbolicator(options).Symbolicate(&report);
  const auto& symbols = report.threads[0].frames[0].symbols;
  if (symbols.empty()) {
    return report.symbol_status.at(0).second;
  }
  if (sure != nullptr) {
    *sure = symbols.back().name_sure;
  }
  return symbols.back().function + "+" +
         std::to_string(symbols.back().offset.value_or(0));
}

uint64_t AddressOf(const std::string& path, const std::string& name) {
  for (const auto& [address, names] : NmText(path)) {
    if (names.all.count(name) != 0) {
      return address;
    }
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST_P(EveryFile, S1_6_S5_2_S5_3_FramesOfAReportAreMovedBackBySlide) {
  const std::string path = File(std::string("program.") + GetParam());
  const report::Image image = ImageOf(path, 0x4b8000);
  const uint64_t leaf = AddressOf(path, "_cairn_leaf");
  EXPECT_EQ(NameAt(image, leaf, format::FrameKind::kFault), "cairn_leaf+0");
  // A return address right at a function's start belongs to the one before.
  const std::string before = NameAt(image, leaf, format::FrameKind::kReturn);
  EXPECT_EQ(before.substr(0, before.find('+')), "cairn_large_frame");
  EXPECT_EQ(NameAt(image, leaf + 4, format::FrameKind::kReturn),
            "cairn_leaf+4");
}

TEST_P(EveryFile, A7_22_OtherUuidIsToldAndMarked) {
  const std::string path = File(std::string("program.") + GetParam());
  report::Image image = ImageOf(path, 0);
  const uint64_t leaf = AddressOf(path, "_cairn_leaf");
  bool sure = true;
  image.id[3] ^= 1;
  EXPECT_EQ(NameAt(image, leaf, format::FrameKind::kFault, {}, &sure),
            "cairn_leaf+0");
  EXPECT_FALSE(sure);
  EXPECT_EQ(Symbolicator().StatusOf(image),
            symbolicate::ImageStatus::kMismatch);
}

// The program is gone or another one by now; its dSYM is in a directory.
TEST_P(EveryFile, DsymIsFoundByUuidWithoutTheProgram) {
  const std::string split = File(std::string("split.") + GetParam());
  report::Image image = ImageOf(split, 0x10000);
  const uint64_t leaf =
      AddressOf(split + ".dSYM/Contents/Resources/DWARF/split." + GetParam(),
                "_cairn_leaf");
  const Options options = {.debug_directories = {fs::path(split).parent_path()},
                           .sysroot = "",
                           .architecture = ""};
  bool sure = false;
  for (const std::string& path : {std::string("/nowhere/program"),
                                  File(std::string("library.") + GetParam())}) {
    image.path = path;
    EXPECT_EQ(NameAt(image, leaf, format::FrameKind::kFault, options, &sure),
              "cairn_leaf+0");
    EXPECT_TRUE(sure);
  }
  image.path = "/nowhere/program";
  image.id[0] ^= 1;
  EXPECT_EQ(NameAt(image, leaf, format::FrameKind::kFault, options), "missing");
}

TEST_P(EveryFile, HeaderFactsAreThoseOfObjdump) {
  for (const std::string kind : {"program.", "library.", "chained."}) {
    const std::string path = File(kind + GetParam());
    std::string error;
    const auto file =
        MachOFile::Parse(symbolicate::MemorySource(Bytes(path)), &error);
    ASSERT_TRUE(file) << error;
    EXPECT_EQ(symbolicate::Hex(file->uuid()), Uuid(path));
    const auto segments = Segments(path);
    ASSERT_EQ(file->segments().size(), segments.size());
    for (size_t i = 0; i < segments.size(); ++i) {
      EXPECT_EQ(file->segments()[i].name, segments[i].name);
      EXPECT_EQ(file->segments()[i].address, segments[i].address);
      EXPECT_EQ(file->segments()[i].bytes, segments[i].bytes);
      EXPECT_EQ(file->segments()[i].offset, segments[i].offset);
      EXPECT_EQ(file->segments()[i].file_bytes, segments[i].file_bytes);
    }
    const auto text = Section(path, "__text");
    const auto* section = file->SectionAt(text.address);
    ASSERT_NE(section, nullptr);
    EXPECT_EQ(section->end(), text.end);
    EXPECT_TRUE(section->IsCode());
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryFile, testing::Values("x86_64", "arm64"));

TEST(FatFile, A7_30_SliceIsChosenByArchitectureAndUuid) {
  const std::string path = File("program.fat");
  for (const std::string arch : {"x86_64", "arm64"}) {
    const std::string thin = File("program." + arch);
    const auto names = NmText(path, arch);
    EXPECT_GT(names.size(), 100u);
    Asker asker(path, arch);
    report::Image image = ImageOf(thin, 0);
    image.path = path;
    for (const auto& [address, here] : names) {
      ExpectName(&asker, address, address, here);
    }
    const uint64_t leaf = AddressOf(thin, "_cairn_leaf");
    EXPECT_EQ(NameAt(image, leaf, format::FrameKind::kFault), "cairn_leaf+0");
  }
  Asker none(path, "arm64e");
  EXPECT_TRUE(none.Ask(0x100001000).empty());
  EXPECT_EQ(none.error(), path + " has no arm64e code");
}

// Object files for the two 32-bit targets: nlist of 12 bytes, Thumb.
TEST(NarrowFile, S1_7_NamesAndThumb) {
  for (const std::string kind : {"i386", "armv7", "armv7arm"}) {
    const std::string path = File("bare." + kind);
    const auto names = NmText(path);
    ASSERT_GE(names.size(), 3u) << kind;
    Asker asker(path);
    const uint64_t end = Section(path, "__text").end;
    CheckAll(&asker, {names, {}, {end + 1, end}}, kind == "i386" ? 1 : 2);
    // A program counter that says Thumb is the same place.
    const uint64_t second = AddressOf(path, "_cairn_second");
    const auto frames = asker.Ask(second | 1);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].offset, kind == "i386" ? 1u : 0u);
  }
}

TEST(NarrowFile, S1_7_ThumbReturnAddressIsLookedUpInTheCall) {
  const std::string path = File("bare.armv7");
  report::Image image;
  image.path = path;
  const uint64_t second = AddressOf(path, "_cairn_second");
  // lr behind a call that ends a function: next address, with the Thumb bit.
  EXPECT_EQ(NameAt(image, second | 1, format::FrameKind::kReturn)
                .substr(0, std::string("cairn_first").size()),
            "cairn_first");
}

TEST(ForeignOrder, BigEndianIsRefusedByName) {
  std::string error;
  EXPECT_FALSE(MachOFile::Parse(
      symbolicate::MemorySource({0xfe, 0xed, 0xfa, 0xce, 0, 0, 0, 18, 0, 0,
                                 0,    0,    0,    0,    0, 1, 0, 0,  0, 0,
                                 0,    0,    0,    0,    0, 0, 0, 0}),
      &error));
  EXPECT_EQ(error, "a big-endian Mach-O file");
}

}  // namespace
}  // namespace cairn::macho_test
