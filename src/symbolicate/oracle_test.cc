// SPDX-License-Identifier: Apache-2.0
//
// Every answer against other tools': nm says where functions begin and end,
// llvm-symbolizer what it would print.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "symbolicate/symbolicator.h"
#include "symbolicate/testdata/tools.h"

namespace cairn::symbolicate {
namespace {

std::string Mangled(const std::vector<report::SymbolFrame>& frames) {
  if (frames.empty()) {
    return "";
  }
  const report::SymbolFrame& frame = frames.back();
  return frame.function_mangled.empty() ? frame.function
                                        : frame.function_mangled;
}

class Oracle : public testing::TestWithParam<const char*> {};

// The start, the middle and the last byte of each function.
TEST_P(Oracle, S1_7_NamesEveryByteOfAFunction) {
  const std::string path = Program(GetParam());
  const auto names = NmNames(path);
  Symbolicator symbolicator;
  std::string error;
  int checked = 0;
  for (const NmFunction& function : NmFunctions(path)) {
    if (function.bytes == 0) {
      continue;
    }
    const uint64_t last = function.bytes - 1;
    for (uint64_t offset : {uint64_t{0}, last / 2, last}) {
      const auto frames =
          symbolicator.LookupFile(path, function.address + offset, &error);
      ASSERT_FALSE(frames.empty()) << function.name << "+" << offset;
      EXPECT_TRUE(frames[0].name_sure);
      const uint64_t start = function.address + offset - *frames[0].offset;
      // Functions may nest (libc's assembly); the inner one is the answer.
      ASSERT_GE(start, function.address) << function.name;
      ASSERT_EQ(names.at(start).count(Mangled(frames)), 1u)
          << function.name << "+" << offset << ": " << Mangled(frames);
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
}

// Behind the last byte stands another function's name or none: never one made
// up by going back to the nearest symbol.
TEST_P(Oracle, A7_6_NamesNothingBehindAFunction) {
  const std::string path = Program(GetParam());
  std::vector<uint64_t> addresses;
  for (const NmFunction& function : NmFunctions(path)) {
    if (function.bytes != 0) {
      addresses.push_back(function.address + function.bytes);
    }
  }
  const auto expected = LlvmNames(path, addresses);
  const auto names = NmNames(path);
  Symbolicator symbolicator;
  std::string error;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const auto frames = symbolicator.LookupFile(path, addresses[i], &error);
    if (frames.empty() || frames.back().function.empty()) {
      // A label inside a function that has ended; LLVM lets it reach on.
      EXPECT_TRUE(expected[i] == "" || expected[i] == "inner_label")
          << std::hex << addresses[i] << " " << expected[i];
      continue;
    }
    const auto& aliases = names.at(addresses[i] - *frames.back().offset);
    EXPECT_EQ(aliases.count(Mangled(frames)), 1u);
    EXPECT_EQ(aliases.count(expected[i]), 1u)
        << std::hex << addresses[i] << ": " << Mangled(frames) << " instead of "
        << expected[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs,
    Oracle,
    testing::Values("pie", "fixed", "static", "no_id", "library", "bits32"),
    [](const auto& each) { return std::string(each.param); });

std::string LibcPath() {
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6"}) {
    if (std::filesystem::exists(path)) {
      return path;
    }
  }
  return "";
}

// Needs libc6-dbg: the names come from the debug file of the same build-id.
TEST(LibcOracle, A7_26_AgreesWithLlvmOnRandomAddresses) {
  const std::string path = LibcPath();
  ASSERT_NE(path, "");
  const std::string id = ReadelfBuildId(path);
  const std::string debug = "/usr/lib/debug/.build-id/" + id.substr(0, 2) +
                            "/" + id.substr(2) + ".debug";
  ASSERT_TRUE(std::filesystem::exists(debug)) << "install libc6-dbg";
  const auto functions = NmFunctions(debug);
  uint64_t low = UINT64_MAX, high = 0;
  for (const NmFunction& function : functions) {
    low = std::min(low, function.address);
    high = std::max(high, function.address + function.bytes);
  }
  std::mt19937_64 random(20240229);
  std::vector<uint64_t> addresses;
  for (int i = 0; i < 2000; ++i) {
    addresses.push_back(low + random() % (high - low));
  }
  // Without DWARF, LLVM answers from the symbol table as well.
  const ScratchDirectory scratch;
  const std::string table = scratch.path() + "/table";
  Output("objcopy --strip-debug " + debug + " " + table);
  const auto expected = LlvmNames(table, addresses);
  const auto names = NmNames(debug);
  Symbolicator symbolicator;
  std::string error;
  int named = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const auto frames = symbolicator.LookupFile(path, addresses[i], &error);
    if (frames.empty() || !frames.back().offset) {
      EXPECT_EQ(expected[i], "") << std::hex << addresses[i];
      continue;
    }
    ++named;
    const auto& aliases = names.at(addresses[i] - *frames.back().offset);
    EXPECT_EQ(aliases.count(Mangled(frames)), 1u) << Mangled(frames);
    EXPECT_EQ(aliases.count(expected[i]), 1u)
        << std::hex << addresses[i] << ": " << Mangled(frames) << " instead of "
        << expected[i];
  }
  EXPECT_GT(named, 1500);
}

}  // namespace
}  // namespace cairn::symbolicate
