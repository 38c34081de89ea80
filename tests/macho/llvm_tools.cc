// SPDX-License-Identifier: Apache-2.0
#include "llvm_tools.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

namespace cairn::macho_test {
namespace {

const std::string kOut = CAIRN_MACHO_OUT;

uint64_t Hex(const std::string& text) {
  return std::stoull(text, nullptr, 16);
}

// "  key value" → value; "" when the line is another one.
std::string Value(const std::string& line, const std::string& key) {
  std::istringstream words(line);
  std::string first, second;
  words >> first >> second;
  return first == key ? second : "";
}

}  // namespace

bool HaveFiles() {
  static const int status = std::system(
      (std::string(CAIRN_MACHO_SOURCE "/build_binaries ") + kOut).c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string File(const std::string& name) {
  EXPECT_TRUE(HaveFiles()) << "build_binaries failed, see above";
  return kOut + "/" + name;
}

std::string Output(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << command;
    return text;
  }
  char chunk[65536];
  for (size_t got = 0; (got = fread(chunk, 1, sizeof(chunk), pipe)) != 0;) {
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

std::vector<uint8_t> Bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::map<uint64_t, Names> NmText(const std::string& path,
                                 const std::string& arch) {
  std::map<uint64_t, Names> names;
  const std::string option = arch.empty() ? "" : "--arch=" + arch + " ";
  for (const auto& line :
       Lines(Output("llvm-nm-19 -n " + option + path + " 2>/dev/null"))) {
    std::istringstream words(line);
    std::string address, kind, name;
    words >> address >> kind >> name;
    // The header's symbol claims the section of code, and lies before it.
    const bool is_header = name == "__mh_execute_header";
    if (!is_header && (kind == "t" || kind == "T")) {
      Names& here = names[Hex(address)];
      here.all.insert(name);
      if (kind == "T") {
        here.external.insert(name);
      }
    }
  }
  return names;
}

std::vector<uint64_t> FunctionStarts(const std::string& path) {
  std::vector<uint64_t> starts;
  for (const auto& line : Lines(
           Output("llvm-objdump-19 --macho --function-starts=addrs " + path))) {
    if (!line.empty() && std::isxdigit(static_cast<unsigned char>(line[0])) &&
        line.find(':') == std::string::npos) {
      starts.push_back(Hex(line));
    }
  }
  return starts;
}

Range Section(const std::string& path, const std::string& name) {
  for (const auto& line :
       Lines(Output("llvm-objdump-19 --macho --section-headers " + path))) {
    std::istringstream words(line);
    std::string index, section, size, address;
    words >> index >> section >> size >> address;
    if (section == name) {
      return {Hex(address), Hex(address) + Hex(size)};
    }
  }
  ADD_FAILURE() << "no section " << name << " in " << path;
  return {};
}

std::vector<Segment> Segments(const std::string& path) {
  std::vector<Segment> segments;
  bool inside = false;
  for (const auto& line :
       Lines(Output("llvm-objdump-19 --macho --private-headers " + path))) {
    const std::string command = Value(line, "cmd");
    if (!command.empty() || line == "Section") {
      inside = command.starts_with("LC_SEGMENT");
      if (inside) {
        segments.emplace_back();
      }
    } else if (inside) {
      Segment& segment = segments.back();
      std::string value;
      if (!(value = Value(line, "segname")).empty()) {
        segment.name = value;
      } else if (!(value = Value(line, "vmaddr")).empty()) {
        segment.address = Hex(value);
      } else if (!(value = Value(line, "vmsize")).empty()) {
        segment.bytes = Hex(value);
      } else if (!(value = Value(line, "fileoff")).empty()) {
        segment.offset = std::stoull(value);
      } else if (!(value = Value(line, "filesize")).empty()) {
        segment.file_bytes = std::stoull(value);
      } else if (!(value = Value(line, "initprot")).empty()) {
        segment.protection = value;
      }
    }
  }
  return segments;
}

std::string Uuid(const std::string& path) {
  std::string out;
  for (const auto& line : Lines(Output("llvm-dwarfdump-19 --uuid " + path))) {
    std::istringstream words(line);
    std::string key, uuid;
    words >> key >> uuid;
    for (const char c : key == "UUID:" && out.empty() ? uuid : "") {
      if (c != '-') {
        out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
  }
  return out;
}

std::map<uint64_t, std::set<std::string>> Exports(const std::string& path) {
  std::map<uint64_t, std::set<std::string>> exports;
  for (const auto& line :
       Lines(Output("llvm-objdump-19 --macho --exports-trie " + path))) {
    std::istringstream words(line);
    std::string address, name;
    words >> address >> name;
    if (address.starts_with("0x")) {
      exports[Hex(address)].insert(name);
    }
  }
  return exports;
}

}  // namespace cairn::macho_test
