// SPDX-License-Identifier: Apache-2.0
//
// Addresses → names, from the files of this machine.
//
// Ordinary code; one Symbolicator per thread. Files are hostile input: bounds
// checked, bounded in time and memory.
#ifndef CAIRN_SYMBOLICATE_SYMBOLICATOR_H_
#define CAIRN_SYMBOLICATE_SYMBOLICATOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "report/report.h"

namespace cairn::symbolicate {

struct Options {
  // Searched for `xx/yyyy.debug` by build-id, besides /usr/lib/debug/.build-id.
  std::vector<std::string> debug_directories;
  // Put before every path of an image (a root that was copied here).
  std::string sysroot;
  // Which part of a file of several architectures LookupFile takes: a name as
  // lipo has it (arm64e); empty: this machine's, else the first. Images of a
  // report are told by their id.
  std::string architecture;
};

// What is known of one image's file.
enum class ImageStatus {
  kOk,          // names available
  kStripped,    // the file is right but has no symbols that cover code
  kMissing,     // no file found
  kMismatch,    // a file was found, but its id is another one's
  kUnreadable,  // not a file of a known kind, or damaged
};
const char* Name(ImageStatus status);

class Symbolicator {
 public:
  explicit Symbolicator(Options options = {});
  ~Symbolicator();
  Symbolicator(const Symbolicator&) = delete;
  Symbolicator& operator=(const Symbolicator&) = delete;

  // Fills Frame::symbols of every frame without, and Report::symbol_status. The
  // one place that subtracts: a return address is looked up one byte lower.
  void Symbolicate(report::Report* report);

  // Names for an offset from the image's base address, innermost first.
  // `lookup` is the address to look up (already reduced for a return address).
  std::vector<report::SymbolFrame> Lookup(const report::Image& image,
                                          uint64_t lookup_offset);
  // The same for a file on disk; `address` as linked (what nm and addr2line
  // print).
  std::vector<report::SymbolFrame> LookupFile(const std::string& path,
                                              uint64_t address,
                                              std::string* error);
  ImageStatus StatusOf(const report::Image& image);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_SYMBOLICATOR_H_
