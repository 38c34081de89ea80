// SPDX-License-Identifier: Apache-2.0
//
// One loaded Mach-O image with whatever of its files is on this machine.
//
// Ordinary code, one thread.
#ifndef CAIRN_SYMBOLICATE_MACHO_MODULE_H_
#define CAIRN_SYMBOLICATE_MACHO_MODULE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolicate/macho_file.h"
#include "symbolicate/macho_symbols.h"
#include "symbolicate/module.h"

namespace cairn::symbolicate {

class MachOModule : public Module {
 public:
  // For an image of a report. Of a fat file the slice with the report's UUID is
  // taken, else the one of its architecture; a slice with another UUID gives
  // kMismatch, and names that are marked unsure. A dSYM with the right UUID is
  // taken also where the image's own file is gone or another one by now.
  MachOModule(const report::Image& image, const Options& options);
  // For a file that the user names; its names are sure. Of a fat file the slice
  // that Options::architecture names, else this machine's, else the first.
  MachOModule(const std::string& path, const Options& options);

  ImageStatus status() const override { return status_; }
  const std::string& message() const override { return message_; }
  uint64_t LinkedAddress(uint64_t offset) const override {
    return base_ + offset;
  }
  std::vector<report::SymbolFrame> Lookup(uint64_t address) const override;
  bool IsFunctionStart(uint64_t address) const override;
  uint64_t CodeAddress(uint64_t address) const override;

 private:
  using Slices = std::vector<std::shared_ptr<const MachOFile>>;

  Slices Open(const std::string& path);
  void Choose(const std::vector<uint8_t>& wanted, const Options& options);

  std::string path_;  // with the sysroot
  std::shared_ptr<const MachOFile> own_, dsym_;
  std::optional<MachOSymbols> symbols_;
  uint64_t base_ = 0;
  ImageStatus status_ = ImageStatus::kMissing;
  bool sure_ = true;
  std::string message_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_MACHO_MODULE_H_
