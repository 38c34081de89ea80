// SPDX-License-Identifier: Apache-2.0
//
// One loaded image with whatever of its files is on this machine.
//
// Ordinary code, one thread.
#ifndef CAIRN_SYMBOLICATE_ELF_MODULE_H_
#define CAIRN_SYMBOLICATE_ELF_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "report/report.h"
#include "symbolicate/dwarf_file.h"
#include "symbolicate/elf_file.h"
#include "symbolicate/module.h"
#include "symbolicate/symbol_index.h"
#include "symbolicate/symbolicator.h"

namespace cairn::symbolicate {

class ElfModule : public Module {
 public:
  // For an image of a report. The id decides: a file with another id gives
  // kMismatch, and names that are marked unsure; so does, without the status,
  // a report that has no id for the image. A derived id is compared with the
  // one that the file gives by the same rule. A debug file with the right id is
  // taken also where the image's own file is gone or another one by now.
  ElfModule(const report::Image& image, const Options& options);
  // For a file that the user names; its names are sure.
  ElfModule(const std::string& path, const Options& options);

  ImageStatus status() const override { return status_; }
  const std::string& message() const override { return message_; }
  uint64_t LinkedAddress(uint64_t offset) const override {
    return base_ + offset;
  }

  // Innermost first; empty when nothing covers the address. SymbolFrame::offset
  // is that of `address` from the start of the function in the symbol table,
  // absent where that has none. Inlined calls stand before the function that
  // holds them. `function` may be "" where only a line is known.
  std::vector<report::SymbolFrame> Lookup(uint64_t address) const override;
  bool IsFunctionStart(uint64_t address) const override;

 private:
  void Open(const std::string& path);
  void OpenVdso();
  // Decides status_ and which files give names.
  void Choose(const std::vector<uint8_t>& wanted,
              bool is_derived,
              const Options& options);
  void BuildIndex(bool from_own_file);
  void OpenDebugInformation();

  std::string path_;  // with the sysroot
  std::shared_ptr<const ElfFile> own_, debug_;
  SymbolIndex index_;
  std::unique_ptr<DwarfFile> dwarf_;  // null: no debug information
  uint64_t base_ = 0;
  ImageStatus status_ = ImageStatus::kMissing;
  bool sure_ = true;
  std::string message_;
};

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_ELF_MODULE_H_
