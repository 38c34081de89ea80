// SPDX-License-Identifier: Apache-2.0
//
// What other tools say of an object file: nm, readelf and llvm-symbolizer are
// the oracles of this folder's tests.
#ifndef CAIRN_SYMBOLICATE_TESTDATA_TOOLS_H_
#define CAIRN_SYMBOLICATE_TESTDATA_TOOLS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/report.h"

namespace cairn::symbolicate {

// One of the programs of testdata/CMakeLists.txt.
std::string Program(const std::string& name);

// Standard output of a shell command; fails the test when it exits with an
// error.
std::string Output(const std::string& command);
std::vector<std::string> Lines(const std::string& text);

// A function as nm prints it.
struct NmFunction {
  uint64_t address = 0, bytes = 0;  // bytes 0: the symbol has no size
  std::string name;                 // without the version
};
std::vector<NmFunction> NmFunctions(const std::string& path);
// Every name that nm has at an address.
std::map<uint64_t, std::set<std::string>> NmNames(const std::string& path);

// The mangled name llvm-symbolizer has for each address; "" for none.
std::vector<std::string> LlvmNames(const std::string& path,
                                   const std::vector<uint64_t>& addresses);

// Lower-case hex, by readelf; "" for none.
std::string ReadelfBuildId(const std::string& path);
std::vector<uint8_t> BuildIdBytes(const std::string& path);

// An image of a report as the loader would have put this file at `address`.
report::Image ImageOf(const std::string& path, uint64_t address);

// A directory that goes with the object.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_TESTDATA_TOOLS_H_
