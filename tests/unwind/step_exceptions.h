// SPDX-License-Identifier: Apache-2.0
//
// Known disagreements of the single-step proof: tests/unwind_exceptions.txt.
// A line: `module | function | reason | gdb: … | libunwind: …`. The module is a
// base name without version (`libc.so`), `*` stands for all.
#ifndef CAIRN_TESTS_UNWIND_STEP_EXCEPTIONS_H_
#define CAIRN_TESTS_UNWIND_STEP_EXCEPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/image_table.h"
#include "symbolicate/symbolicator.h"

namespace cairn::unwind_tests {

// Where an instruction is.
struct Site {
  std::string module;    // base name; "?" outside of all images
  std::string function;  // "?" without a symbol
  uint64_t offset = 0;   // from the function's start, else from the image's
};

class SiteNames {
 public:
  const Site& Of(const capture::ImageTable& images, uint64_t address);

 private:
  symbolicate::Symbolicator symbolicator_;
  std::map<uint64_t, Site> known_;
};

class Exceptions {
 public:
  // False: unreadable, or a line that is no such line.
  bool Load(const std::string& path);
  bool Has(const Site& site) const;

 private:
  struct Line {
    std::string module;
    std::string function;
  };
  std::vector<Line> lines_;
};

}  // namespace cairn::unwind_tests

#endif  // CAIRN_TESTS_UNWIND_STEP_EXCEPTIONS_H_
