// SPDX-License-Identifier: Apache-2.0
//
// One loaded image with whatever of its files is on this machine, of any
// object format.
//
// Ordinary code, one thread.
#ifndef CAIRN_SYMBOLICATE_MODULE_H_
#define CAIRN_SYMBOLICATE_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "report/report.h"
#include "symbolicate/symbolicator.h"

namespace cairn::symbolicate {

class Module {
 public:
  virtual ~Module() = default;

  virtual ImageStatus status() const = 0;
  // What is wrong, for people; "" when names are there.
  virtual const std::string& message() const = 0;
  // The linked address of an offset from the image's base.
  virtual uint64_t LinkedAddress(uint64_t offset) const = 0;
  // Innermost first; empty when nothing covers the address. SymbolFrame::offset
  // is that of `address`. Inlined calls stand before the function that holds
  // them.
  virtual std::vector<report::SymbolFrame> Lookup(uint64_t address) const = 0;
  // True when a function begins exactly here.
  virtual bool IsFunctionStart(uint64_t address) const = 0;
  // Where the instruction is that a program counter or return address names:
  // without the bit that tells Thumb code.
  virtual uint64_t CodeAddress(uint64_t address) const { return address; }
};

// For an image of a report; the kind is told by the file's first bytes. Where
// the file is gone both kinds of debug file are looked for.
std::unique_ptr<Module> OpenModule(const report::Image& image,
                                   const Options& options);
// For a file that the user names; its names are sure.
std::unique_ptr<Module> OpenModule(const std::string& path,
                                   const Options& options);

// A name as a file has it, made fit for people.
report::SymbolFrame MakeFrame(std::string name,
                              uint64_t offset,
                              bool name_sure);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_MODULE_H_
