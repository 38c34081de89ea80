// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/testdata/tools.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>

namespace cairn::symbolicate {
namespace {

std::string WithoutVersion(const std::string& name) {
  return name.substr(0, name.find('@'));
}

}  // namespace

std::string Program(const std::string& name) {
  return std::string(CAIRN_SYMBOL_PROGRAMS) + "/" + name;
}

std::string Output(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  char chunk[4096];
  for (size_t got; (got = fread(chunk, 1, sizeof(chunk), pipe)) != 0;) {
    text.append(chunk, got);
  }
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

// "0000000000001132 0000000000000005 T GlobalFunction"; without a size the
// second column is missing.
std::vector<NmFunction> NmFunctions(const std::string& path) {
  std::vector<NmFunction> found;
  for (const std::string& line :
       Lines(Output("nm -S --defined-only '" + path + "'"))) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
      words.push_back(word);
    }
    if (words.size() < 3) {
      continue;
    }
    const std::string& kind = words[words.size() - 2];
    if (kind.find_first_of("tTwWi") == std::string::npos) {
      continue;
    }
    NmFunction function;
    function.address = std::stoull(words[0], nullptr, 16);
    function.bytes = words.size() == 4 ? std::stoull(words[1], nullptr, 16) : 0;
    function.name = WithoutVersion(words.back());
    found.push_back(function);
  }
  return found;
}

std::map<uint64_t, std::set<std::string>> NmNames(const std::string& path) {
  std::map<uint64_t, std::set<std::string>> names;
  for (const NmFunction& function : NmFunctions(path)) {
    names[function.address].insert(function.name);
  }
  return names;
}

// A function's line, its place's line and an empty one for each address.
std::vector<std::string> LlvmNames(const std::string& path,
                                   const std::vector<uint64_t>& addresses) {
  const ScratchDirectory scratch;
  const std::string input = scratch.path() + "/addresses";
  std::ofstream file(input);
  for (uint64_t address : addresses) {
    file << std::hex << std::showbase << address << '\n';
  }
  file.close();
  std::vector<std::string> names;
  bool first = true;
  for (const std::string& line :
       Lines(Output("llvm-symbolizer-19 --no-demangle --no-inlines --obj='" +
                    path + "' < " + input))) {
    if (first) {
      names.push_back(line == "??" ? "" : WithoutVersion(line));
    }
    first = line.empty();
  }
  EXPECT_EQ(names.size(), addresses.size());
  names.resize(addresses.size());
  return names;
}

std::string ReadelfBuildId(const std::string& path) {
  const std::string key = "Build ID: ";
  const std::string text = Output("readelf -n '" + path + "' 2>/dev/null");
  const size_t at = text.find(key);
  if (at == std::string::npos) {
    return "";
  }
  const size_t start = at + key.size();
  return text.substr(start, text.find('\n', start) - start);
}

std::vector<uint8_t> BuildIdBytes(const std::string& path) {
  const std::string hex = ReadelfBuildId(path);
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

report::Image ImageOf(const std::string& path, uint64_t address) {
  uint64_t lowest = UINT64_MAX;
  for (const std::string& line :
       Lines(Output("readelf -lW '" + path + "' 2>/dev/null"))) {
    std::istringstream in(line);
    std::string type, offset, linked;
    if (in >> type >> offset >> linked && type == "LOAD") {
      lowest = std::min<uint64_t>(lowest, std::stoull(linked, nullptr, 16));
    }
  }
  report::Image image;
  image.path = path;
  image.address = address;
  image.link_bias = static_cast<int64_t>(address - lowest);
  image.id = BuildIdBytes(path);
  return image;
}

ScratchDirectory::ScratchDirectory() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "cairn-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace cairn::symbolicate
