// SPDX-License-Identifier: Apache-2.0
//
// Function, file, line, column and the whole inlined chain against
// llvm-symbolizer, at every address of the program's own code.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "symbolicate/symbolicator.h"
#include "symbolicate/testdata/tools.h"

namespace cairn::symbolicate {
namespace {

// One text for an address: "function file:line:column" a frame, innermost
// first. The outermost name is left out: aliases of one function (C1 and C2 of
// a constructor) are equally right, and oracle_test.cc compares those.
using Answers = std::vector<std::vector<std::string>>;

Answers LlvmAnswers(const std::string& path,
                    const std::vector<uint64_t>& addresses) {
  const ScratchDirectory scratch;
  const std::string input = scratch.path() + "/addresses";
  std::ofstream file(input);
  for (uint64_t address : addresses) {
    file << std::hex << std::showbase << address << '\n';
  }
  file.close();
  Answers answers(1);
  std::string name;
  for (const std::string& line :
       Lines(Output("llvm-symbolizer-19 --no-demangle --obj='" + path + "' < " +
                    input))) {
    if (line.empty()) {
      answers.emplace_back();
      name.clear();
    } else if (name.empty()) {
      name = line;
    } else {
      answers.back().push_back(name + " " + line);
      name.clear();
    }
  }
  answers.resize(addresses.size());
  return answers;
}

std::string TextOf(const report::SymbolFrame& frame) {
  const std::string& name =
      frame.function_mangled.empty() ? frame.function : frame.function_mangled;
  return (name.empty() ? "??" : name) + " " +
         (frame.file.empty() ? "??" : frame.file) + ":" +
         std::to_string(frame.line) + ":" + std::to_string(frame.column);
}

std::string WithoutName(const std::string& text) {
  return text.substr(text.find(' ') + 1);
}

class DwarfOracle : public testing::TestWithParam<const char*> {};

TEST_P(DwarfOracle, A7_25_AgreesWithLlvmOnEveryFrame) {
  const std::string path = Program(GetParam());
  std::vector<uint64_t> addresses;
  for (const NmFunction& function : NmFunctions(path)) {
    if (function.name.find("shop") == std::string::npos &&
        function.name.find("St") == std::string::npos &&
        function.name != "main") {
      continue;
    }
    for (uint64_t offset = 0; offset < function.bytes; ++offset) {
      addresses.push_back(function.address + offset);
    }
  }
  const Answers expected = LlvmAnswers(path, addresses);
  Symbolicator symbolicator;
  std::string error;
  size_t inlined = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const auto frames = symbolicator.LookupFile(path, addresses[i], &error);
    ASSERT_EQ(frames.size(), expected[i].size()) << std::hex << addresses[i];
    for (size_t k = 0; k < frames.size(); ++k) {
      const bool is_outermost = k + 1 == frames.size();
      EXPECT_EQ(frames[k].inlined, !is_outermost);
      const std::string ours = TextOf(frames[k]);
      if (is_outermost) {
        ASSERT_EQ(WithoutName(ours), WithoutName(expected[i][k]))
            << std::hex << addresses[i];
      } else {
        ASSERT_EQ(ours, expected[i][k]) << std::hex << addresses[i];
        ++inlined;
      }
    }
  }
  EXPECT_GT(addresses.size(), 500u);
  EXPECT_GT(inlined, 300u);
}

INSTANTIATE_TEST_SUITE_P(Programs,
                         DwarfOracle,
                         testing::Values("dwarf4",
                                         "dwarf5",
                                         "dwarf4_o0",
                                         "dwarf5_o0",
                                         "dwarf_gc",
                                         "dwarf_zlib",
                                         "dwarf_types",
                                         "split4",
                                         "split5"),
                         [](const auto& each) {
                           return std::string(each.param);
                         });

}  // namespace
}  // namespace cairn::symbolicate
