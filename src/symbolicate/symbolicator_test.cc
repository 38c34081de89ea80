// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/symbolicator.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "symbolicate/testdata/tools.h"

namespace cairn::symbolicate {
namespace {

namespace fs = std::filesystem;
using format::FrameKind;

constexpr uint64_t kLoaded = 0x7f0000000000;

uint64_t AddressOf(const std::string& path, const std::string& name) {
  for (const NmFunction& function : NmFunctions(path)) {
    if (function.name == name) {
      return function.address;
    }
  }
  ADD_FAILURE() << "no " << name << " in " << path;
  return 0;
}

report::Frame FrameAt(const report::Image& image,
                      uint64_t linked,
                      FrameKind kind) {
  report::Frame frame;
  frame.image = 0;
  frame.address = linked + static_cast<uint64_t>(image.link_bias);
  frame.image_offset = frame.address - image.address;
  frame.kind = kind;
  return frame;
}

// One frame of a report with one image, after symbolication.
report::Frame Symbolicated(const report::Image& image,
                           const report::Frame& frame,
                           std::string* status = nullptr,
                           const Options& options = {}) {
  report::Report report;
  report.images = {image};
  report.threads.emplace_back();
  report.threads[0].frames = {frame};
  Symbolicator symbolicator(options);
  symbolicator.Symbolicate(&report);
  if (status != nullptr) {
    *status = report.symbol_status.at(0).second;
  }
  return report.threads[0].frames[0];
}

// The call is the last instruction: its return address is the next function's
// first byte, or padding.
TEST(Symbolicator, S5_2_A7_3_A7_4_A7_27_ReturnAddressIsLookedUpOneByteLower) {
  for (const char* name : {"pie", "fixed", "bits32"}) {
    const std::string path = Program(name);
    const uint64_t bias = std::string(name) == "pie" ? kLoaded : 0;
    const uint64_t lowest = static_cast<uint64_t>(-ImageOf(path, 0).link_bias);
    const report::Image image = ImageOf(path, lowest + bias);
    const uint64_t start = AddressOf(path, "EndsInCall");
    uint64_t bytes = 0;
    for (const NmFunction& function : NmFunctions(path)) {
      bytes = function.name == "EndsInCall" ? function.bytes : bytes;
    }
    const auto behind =
        Symbolicated(image, FrameAt(image, start + bytes, FrameKind::kReturn));
    ASSERT_EQ(behind.symbols.size(), 1u) << name;
    EXPECT_EQ(behind.symbols[0].function, "EndsInCall");
    EXPECT_EQ(behind.symbols[0].offset, bytes);  // of the address itself
    EXPECT_EQ(behind.address, start + bytes + bias) << "never reduced";
    for (FrameKind kind : {FrameKind::kFault, FrameKind::kInterrupted}) {
      const auto fault = Symbolicated(image, FrameAt(image, start, kind));
      ASSERT_EQ(fault.symbols.size(), 1u);
      EXPECT_EQ(fault.symbols[0].function, "EndsInCall");
      EXPECT_EQ(fault.symbols[0].offset, 0u);
    }
  }
}

// A handler returns to the first byte of the signal trampoline; before it lies
// padding.
TEST(Symbolicator, ReturnToAFunctionsFirstByteBehindAGap) {
  const report::Image image = ImageOf(Program("pie"), kLoaded);
  const uint64_t start = AddressOf(image.path, "AfterGap");
  const auto frame =
      Symbolicated(image, FrameAt(image, start, FrameKind::kReturn));
  ASSERT_EQ(frame.symbols.size(), 1u);
  EXPECT_EQ(frame.symbols[0].function, "AfterGap");
  EXPECT_EQ(frame.symbols[0].offset, 0u);
}

TEST(Symbolicator, A7_6_GapsAndLabels) {
  const std::string path = Program("pie");
  Symbolicator symbolicator;
  std::string error;
  auto name_at = [&](uint64_t address) {
    const auto frames = symbolicator.LookupFile(path, address, &error);
    return frames.empty() ? "" : frames[0].function;
  };
  // Without size: to the next symbol.
  const uint64_t first = AddressOf(path, "AssemblyFirst");
  EXPECT_EQ(name_at(first + 3), "AssemblyFirst");
  EXPECT_EQ(name_at(first + 4), "AssemblySecond");
  // A label does not split the function it is in.
  const uint64_t sized = AddressOf(path, "SizedAssembly");
  EXPECT_EQ(name_at(sized + 3), "SizedAssembly");
  // The gap behind it, and what follows the last function of the section.
  EXPECT_EQ(name_at(sized + 4), "");
  const uint64_t last = AddressOf(path, "AfterGap");
  EXPECT_EQ(name_at(last - 1), "");
  EXPECT_EQ(name_at(last + 1), "AfterGap");
  EXPECT_EQ(name_at(last + 2), "");
  EXPECT_EQ(name_at(0), "");
  EXPECT_EQ(name_at(UINT64_MAX), "");
}

TEST(Symbolicator, A7_5_AliasesHaveOneStableName) {
  const std::string path = Program("pie");
  Symbolicator symbolicator;
  std::string error;
  const auto frames =
      symbolicator.LookupFile(path, AddressOf(path, "WeakAlias"), &error);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "GlobalFunction");
}

TEST(Symbolicator, DemanglesAndKeepsTheMangledName) {
  const std::string path = Program("pie");
  Symbolicator symbolicator;
  std::string error;
  const std::string mangled = "_ZN5outer8TemplateIlLi5EE6MethodElPKc";
  const auto frames =
      symbolicator.LookupFile(path, AddressOf(path, mangled), &error);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function,
            "outer::Template<long, 5>::Method(long, char const*)");
  EXPECT_EQ(frames[0].function_mangled, mangled);
  EXPECT_EQ(symbolicator.LookupFile(path, AddressOf(path, "main"), &error)[0]
                .function_mangled,
            "");
}

// stripped has code only; exports has names for what others may call.
TEST(Symbolicator, S1_7_A7_1_A7_2_StrippedSaysSoAndInventsNothing) {
  const std::string path = Program("stripped");
  const report::Image image = ImageOf(path, kLoaded);
  Symbolicator symbolicator;
  EXPECT_EQ(symbolicator.StatusOf(image), ImageStatus::kStripped);
  std::string status;
  for (const NmFunction& function : NmFunctions(Program("pie"))) {
    const auto frame = Symbolicated(
        image, FrameAt(image, function.address, FrameKind::kFault), &status);
    EXPECT_TRUE(frame.symbols.empty()) << frame.symbols[0].function;
    EXPECT_EQ(status, "stripped");
  }
}

TEST(Symbolicator, S1_7_ExportsAloneNameOnlyWhatTheyCover) {
  const report::Image image = ImageOf(Program("exports"), kLoaded);
  Symbolicator symbolicator;
  EXPECT_EQ(symbolicator.StatusOf(image), ImageStatus::kOk);
  const std::string unstripped = Program("library");
  const auto frame = Symbolicated(
      image,
      FrameAt(
          image, AddressOf(unstripped, "GlobalFunction"), FrameKind::kFault));
  ASSERT_EQ(frame.symbols.size(), 1u);
  EXPECT_EQ(frame.symbols[0].function, "GlobalFunction");
  const uint64_t local =
      AddressOf(unstripped, "_ZN5outer12_GLOBAL__N_113LocalFunctionEi");
  EXPECT_TRUE(Symbolicated(image, FrameAt(image, local, FrameKind::kFault))
                  .symbols.empty());
}

TEST(Symbolicator, A7_26_NamesFromSeparateDebugFiles) {
  for (const char* name : {"linked", "crc"}) {
    const report::Image image = ImageOf(Program(name), kLoaded);
    const std::string full =
        Program(std::string(name) == "crc" ? "no_id" : "pie");
    const auto frame = Symbolicated(
        image, FrameAt(image, AddressOf(full, "main"), FrameKind::kFault));
    ASSERT_EQ(frame.symbols.size(), 1u) << name;
    EXPECT_EQ(frame.symbols[0].function, "main");
    // Without an id nothing proves that this is the file that ran.
    EXPECT_EQ(frame.symbols[0].name_sure, std::string(name) == "linked");
  }
}

TEST(Symbolicator, A7_22_FileWithAnotherIdIsAMismatchAndUnsure) {
  report::Image image = ImageOf(Program("pie"), kLoaded);
  image.id[0] = static_cast<uint8_t>(image.id[0] ^ 1);
  std::string status;
  const auto frame = Symbolicated(
      image,
      FrameAt(image, AddressOf(image.path, "main"), FrameKind::kFault),
      &status);
  EXPECT_EQ(status, "mismatch");
  for (const auto& symbol : frame.symbols) {
    EXPECT_FALSE(symbol.name_sure);
  }
}

// By hand: the first executable segment's place from readelf, its first page
// folded.
std::vector<uint8_t> FoldedFirstPage(const std::string& path) {
  std::vector<uint8_t> id(16);
  for (const std::string& line : Lines(Output("readelf -lW " + path))) {
    std::istringstream in(line);
    std::string type, offset, linked, physical, file_bytes;
    in >> type >> offset >> linked >> physical >> file_bytes;
    if (type != "LOAD" || line.find(" R E ") == std::string::npos) {
      continue;
    }
    std::ifstream file(path, std::ios::binary);
    file.seekg(std::stoll(offset, nullptr, 16));
    const size_t bytes =
        std::min<size_t>(4096, std::stoull(file_bytes, nullptr, 16));
    for (size_t i = 0; i < bytes; ++i) {
      id[i % 16] = static_cast<uint8_t>(id[i % 16] ^ file.get());
    }
    break;
  }
  return id;
}

TEST(Symbolicator, A6_18_DerivedIdDecidesWhereTheFileHasNone) {
  report::Image image = ImageOf(Program("no_id"), kLoaded);
  ASSERT_TRUE(image.id.empty());
  image.id = FoldedFirstPage(image.path);
  image.id_is_derived = true;
  const auto at =
      FrameAt(image, AddressOf(image.path, "main"), FrameKind::kFault);
  std::string status;
  const auto right = Symbolicated(image, at, &status);
  EXPECT_EQ(status, "ok");
  ASSERT_EQ(right.symbols.size(), 1u);
  EXPECT_TRUE(right.symbols[0].name_sure);
  image.id[7] = static_cast<uint8_t>(image.id[7] ^ 1);
  const auto wrong = Symbolicated(image, at, &status);
  EXPECT_EQ(status, "mismatch");
  ASSERT_EQ(wrong.symbols.size(), 1u);
  EXPECT_FALSE(wrong.symbols[0].name_sure);
}

// The program was replaced meanwhile, but its debug file is still there.
TEST(Symbolicator, A7_22_DebugFileWithTheRightIdBeatsAReplacedFile) {
  const ScratchDirectory scratch;
  report::Image image = ImageOf(Program("pie"), kLoaded);
  const uint64_t main_address = AddressOf(image.path, "main");
  const std::string hex = ReadelfBuildId(image.path);
  Options options;
  options.debug_directories = {scratch.path()};
  fs::create_directories(scratch.path() + "/" + hex.substr(0, 2));
  fs::copy(
      Program("linked.debug"),
      scratch.path() + "/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug");
  for (const std::string& path :
       {Program("other"), std::string("/nonexistent/program")}) {
    image.path = path;
    std::string status;
    const auto frame =
        Symbolicated(image,
                     FrameAt(image, main_address, FrameKind::kFault),
                     &status,
                     options);
    EXPECT_EQ(status, "ok");
    ASSERT_EQ(frame.symbols.size(), 1u) << path;
    EXPECT_EQ(frame.symbols[0].function, "main");
    EXPECT_TRUE(frame.symbols[0].name_sure);
  }
}

TEST(Symbolicator, MissingAndUnreadableFiles) {
  report::Image image;
  Symbolicator symbolicator;
  image.path = "/nonexistent/library.so";
  EXPECT_EQ(symbolicator.StatusOf(image), ImageStatus::kMissing);
  image.path = "/etc/passwd";
  EXPECT_EQ(symbolicator.StatusOf(image), ImageStatus::kUnreadable);
  image.path = "";
  EXPECT_EQ(symbolicator.StatusOf(image), ImageStatus::kMissing);
}

TEST(Symbolicator, FramesWithoutAnImageOrWithAWrongOneStayEmpty) {
  report::Report report;
  report.threads.emplace_back();
  report.threads[0].frames.resize(2);
  report.threads[0].frames[1].image = 77;
  Symbolicator().Symbolicate(&report);
  EXPECT_TRUE(report.threads[0].frames[0].symbols.empty());
  EXPECT_TRUE(report.threads[0].frames[1].symbols.empty());
  EXPECT_TRUE(report.symbol_status.empty());
}

// Two images, the second one loaded where the first one's addresses would end
// up if bases were confused.
TEST(Symbolicator, A7_23_EachFrameIsLookedUpInItsOwnImage) {
  report::Report report;
  report.images = {ImageOf(Program("pie"), kLoaded),
                   ImageOf(Program("library"), kLoaded + 0x10000)};
  report.threads.emplace_back();
  for (uint32_t i = 0; i < 2; ++i) {
    const report::Image& image = report.images[i];
    auto frame = FrameAt(
        image, AddressOf(image.path, "_ZN5outer3RunEi"), FrameKind::kFault);
    frame.image = i;
    report.threads[0].frames.push_back(frame);
  }
  Symbolicator().Symbolicate(&report);
  for (const report::Frame& frame : report.threads[0].frames) {
    ASSERT_EQ(frame.symbols.size(), 1u);
    EXPECT_EQ(frame.symbols[0].function, "outer::Run(int)");
    EXPECT_EQ(frame.symbols[0].offset, 0u);
  }
  EXPECT_EQ(report.symbol_status.size(), 2u);
}

// The loader's own answer for functions of this process, without its lock.
TEST(Symbolicator, S2_3_AgreesWithDladdr) {
  for (const char* name : {"qsort", "fopen", "getenv", "strtol", "raise"}) {
    void* function = dlsym(RTLD_DEFAULT, name);
    Dl_info info{};
    ASSERT_NE(dladdr(function, &info), 0) << name;
    const auto base = reinterpret_cast<uint64_t>(info.dli_fbase);
    const report::Image image =
        ImageOf(fs::canonical(info.dli_fname).string(), base);
    Symbolicator symbolicator;
    const auto frames = symbolicator.Lookup(
        image, reinterpret_cast<uint64_t>(function) - base + 1);
    ASSERT_EQ(frames.size(), 1u) << name;
    EXPECT_EQ(*frames[0].offset,
              reinterpret_cast<uint64_t>(function) + 1 -
                  reinterpret_cast<uint64_t>(info.dli_saddr));
    EXPECT_TRUE(frames[0].name_sure);
  }
}

// No file holds the vDSO; the kernel's copy in this process does.
TEST(Symbolicator, VdsoIsReadFromMemoryWhenItsIdIsRight) {
  const uint64_t base = getauxval(AT_SYSINFO_EHDR);
  if (base == 0) {
    GTEST_SKIP() << "this kernel gives no vDSO";
  }
  // readelf reads files only; the notes lie in the first page.
  const ScratchDirectory scratch;
  const std::string copy = scratch.path() + "/vdso";
  std::ofstream(copy, std::ios::binary)
      .write(reinterpret_cast<const char*>(base), 4096);
  report::Image image = ImageOf(copy, base);
  image.path = "linux-vdso.so.1";
  Symbolicator symbolicator;
  if (!image.id.empty()) {
    EXPECT_EQ(symbolicator.StatusOf(image), ImageStatus::kOk);
    image.id[0] = static_cast<uint8_t>(image.id[0] ^ 1);
  }
  EXPECT_EQ(symbolicator.StatusOf(image), ImageStatus::kMissing);
}

TEST(Symbolicator, SysrootIsPutBeforeThePath) {
  const ScratchDirectory scratch;
  fs::create_directories(scratch.path() + "/opt");
  fs::copy(Program("pie"), scratch.path() + "/opt/program");
  report::Image image = ImageOf(Program("pie"), kLoaded);
  const uint64_t main_address = AddressOf(image.path, "main");
  image.path = "/opt/program";
  Options options;
  options.sysroot = scratch.path();
  const auto frame = Symbolicated(
      image, FrameAt(image, main_address, FrameKind::kFault), nullptr, options);
  ASSERT_EQ(frame.symbols.size(), 1u);
  EXPECT_EQ(frame.symbols[0].function, "main");
}

TEST(Symbolicator, PltStubsAreNamedAsObjdumpDoes) {
  const std::string path = "/usr/bin/readelf";
  std::set<std::pair<uint64_t, std::string>> stubs;
  for (const std::string& line :
       Lines(Output("objdump -d --no-show-raw-insn " + path))) {
    const size_t at = line.find("@plt>:");
    if (at != std::string::npos) {
      const size_t open = line.find('<');
      stubs.insert({std::stoull(line, nullptr, 16),
                    line.substr(open + 1, at + 4 - open - 1)});
    }
  }
  ASSERT_FALSE(stubs.empty());
  Symbolicator symbolicator;
  std::string error;
  for (const auto& [address, name] : stubs) {
    const auto frames = symbolicator.LookupFile(path, address + 2, &error);
    ASSERT_EQ(frames.size(), 1u) << name;
    EXPECT_EQ(frames[0].function, name);
    EXPECT_EQ(frames[0].offset, 2u);
  }
}

}  // namespace
}  // namespace cairn::symbolicate
