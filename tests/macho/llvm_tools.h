// SPDX-License-Identifier: Apache-2.0
//
// What LLVM's tools say of a Mach-O file: the oracles of this folder.
#ifndef CAIRN_TESTS_MACHO_LLVM_TOOLS_H_
#define CAIRN_TESTS_MACHO_LLVM_TOOLS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cairn::macho_test {

// One of the files that build_binaries makes; made at the first call. A failure
// to make them fails the test.
std::string File(const std::string& name);
bool HaveFiles();

std::string Output(const std::string& command);
std::vector<std::string> Lines(const std::string& text);
std::vector<uint8_t> Bytes(const std::string& path);

struct Names {
  std::set<std::string> all;       // as nm has them, with the underscore
  std::set<std::string> external;  // those of them that are exported
};
// Names in __text by address, by llvm-nm. `arch` only for fat files.
std::map<uint64_t, Names> NmText(const std::string& path,
                                 const std::string& arch = "");
// Where functions start, by llvm-objdump.
std::vector<uint64_t> FunctionStarts(const std::string& path);

struct Range {
  uint64_t address = 0, end = 0;
};
// Section of __TEXT by llvm-objdump.
Range Section(const std::string& path, const std::string& name);
struct Segment {
  std::string name;
  uint64_t address = 0, bytes = 0, offset = 0, file_bytes = 0;
  std::string protection;  // "r-x"
};
std::vector<Segment> Segments(const std::string& path);
// Lower-case hex without dashes.
std::string Uuid(const std::string& path);
std::map<uint64_t, std::set<std::string>> Exports(const std::string& path);

}  // namespace cairn::macho_test

#endif  // CAIRN_TESTS_MACHO_LLVM_TOOLS_H_
