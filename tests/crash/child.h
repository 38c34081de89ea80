// SPDX-License-Identifier: Apache-2.0
//
// Runs the crasher and collects what it said, how it ended, and what it left.
#ifndef CAIRN_TESTS_CRASH_CHILD_H_
#define CAIRN_TESTS_CRASH_CHILD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cairn::crash {

struct Child {
  int status = 0;  // of wait4
  std::multimap<std::string, std::string> facts;
  std::string errors;     // its standard error
  std::string directory;  // of its reports and core; removed by the destructor
  bool keep = false;      // not removed
  std::vector<std::string> reports;  // paths of NAME.cairn
  std::vector<std::string>
      other_files;  // everything else in there, the marker left out

  Child() = default;
  Child(Child&&) = default;
  Child& operator=(Child&&) = delete;
  ~Child();

  std::string Fact(const std::string& word) const;  // "" when it was not said
  std::optional<uint64_t> Address(const std::string& word) const;
  std::vector<std::string> Facts(const std::string& word) const;
};

// Starts `program` with a new report directory and `arguments` behind it,
// `environment` added; the preload is in it when the program's name says so.
// When the child says "kill_me PID" it is sent SIGSEGV. One that has not ended
// after two minutes is killed, and its errors say so.
Child RunChild(const std::string& program,
               const std::vector<std::string>& arguments,
               const std::vector<std::string>& environment = {});

// Function symbols of a program as nm prints them: an oracle outside this code
// base.
class NmSymbols {
 public:
  explicit NmSymbols(const std::string& path);
  // The function that holds a link-time address, "" outside all.
  std::string FunctionAt(uint64_t address) const;

 private:
  struct Function {
    uint64_t bytes;
    std::string name;
  };
  std::map<uint64_t, Function> functions_;
};

}  // namespace cairn::crash

#endif  // CAIRN_TESTS_CRASH_CHILD_H_
