// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/elf_module.h"

#include <optional>
#include <utility>

#include "symbolicate/debug_files.h"
#include "symbolicate/demangle.h"
#include "symbolicate/elf_dwarf.h"
#include "symbolicate/elf_format.h"
#include "symbolicate/elf_plt.h"
#include "symbolicate/vdso.h"

namespace cairn::symbolicate {
namespace {

constexpr uint64_t kPageMask = ~uint64_t{0xfff};
constexpr std::string_view kDeleted = " (deleted)";

const ElfSection* TableOf(const ElfFile& file, uint32_t type) {
  for (const ElfSection& section : file.sections()) {
    if (section.type == type) {
      return &section;
    }
  }
  return nullptr;
}

// The kernel appends this to the path of a file that was replaced; what is
// there now is judged by its id.
std::string WithoutDeleted(std::string path) {
  if (path.ends_with(kDeleted)) {
    path.resize(path.size() - kDeleted.size());
  }
  return path;
}

void SetName(std::string name, report::SymbolFrame* frame) {
  frame->function = Demangle(name);
  frame->function_mangled = frame->function != name ? std::move(name) : "";
}

report::SymbolFrame MakeFrame(SourceFrame source, bool name_sure) {
  report::SymbolFrame frame;
  SetName(std::move(source.function), &frame);
  frame.file = std::move(source.file);
  frame.line = source.line;
  frame.column = source.column;
  frame.inlined = source.inlined;
  frame.name_sure = name_sure;
  return frame;
}

// Where the image's base was linked. The report's own word counts when it lies
// on the page where the file begins; a report without it says nothing.
uint64_t LinkedBase(const report::Image& image, const ElfFile& file) {
  const uint64_t said = image.address - static_cast<uint64_t>(image.link_bias);
  const uint64_t lowest = file.lowest_address();
  return (said & kPageMask) == (lowest & kPageMask) ? said : lowest;
}

}  // namespace

ElfModule::ElfModule(const report::Image& image, const Options& options) {
  if (IsVdsoName(image.path)) {
    OpenVdso();
    if (own_ && (image.id.empty() || own_->build_id() != image.id)) {
      own_ = nullptr;  // another kernel's
      message_ = "the vDSO of another kernel";
    }
  } else if (!image.path.empty()) {
    Open(options.sysroot + WithoutDeleted(image.path));
  }
  Choose(image.id, image.id_is_derived, options);
  const auto& layout = own_ ? own_ : debug_;
  base_ = layout ? LinkedBase(image, *layout) : 0;
}

ElfModule::ElfModule(const std::string& path, const Options& options) {
  Open(path);
  if (own_) {
    Choose(own_->build_id(), false, options);
    sure_ = true;
    base_ = own_->lowest_address();
  }
}

void ElfModule::Open(const std::string& path) {
  path_ = path;
  OpenError error{};
  auto source = OpenFileSource(path, &error, &message_);
  if (!source) {
    status_ = error == OpenError::kMissing ? ImageStatus::kMissing
                                           : ImageStatus::kUnreadable;
    return;
  }
  std::string problem;
  own_ = ElfFile::Parse(std::move(source), &problem);
  if (!own_) {
    status_ = ImageStatus::kUnreadable;
    message_ = path + ": " + problem;
  }
}

void ElfModule::OpenVdso() {
  std::string problem;
  if (auto source = OwnVdso()) {
    own_ = ElfFile::Parse(std::move(source), &problem);
  }
}

void ElfModule::Choose(const std::vector<uint8_t>& wanted,
                       bool is_derived,
                       const Options& options) {
  const bool right =
      own_ && !wanted.empty() &&
      (is_derived ? own_->build_id().empty() && own_->DerivedId() == wanted
                  : own_->build_id() == wanted);
  const bool wrong = own_ && !wanted.empty() && !right;
  if (!is_derived) {
    debug_ = FindDebugFileById(wanted, options);
  }
  if (own_ && !debug_ && !wrong) {
    debug_ = FindDebugFileByLink(*own_, path_, options);
  }
  if (!own_ && !debug_) {
    return;  // the status of Open stands
  }
  // A replaced file says nothing about the old one; its debug file does.
  const bool debug_alone = !own_ || (wrong && debug_);
  if (debug_alone) {
    own_ = nullptr;
  }
  sure_ = right || debug_alone;
  BuildIndex(!debug_alone);
  OpenDebugInformation();
  const bool is_stripped = index_.empty() && !dwarf_;
  status_ = wrong && !debug_alone ? ImageStatus::kMismatch
            : is_stripped         ? ImageStatus::kStripped
                                  : ImageStatus::kOk;
  message_ =
      status_ == ImageStatus::kMismatch
          ? path_ + " has another build-id (" + Hex(own_->build_id()) + ")"
      : status_ == ImageStatus::kStripped
          ? path_ + " has no symbols and no debug file was found"
          : "";
}

void ElfModule::BuildIndex(bool from_own_file) {
  const ElfSection* symbols =
      from_own_file ? TableOf(*own_, elf::kSectionSymbols) : nullptr;
  if (symbols != nullptr) {
    index_.Add(own_, *symbols);
  }
  if (index_.empty() && debug_) {
    symbols = TableOf(*debug_, elf::kSectionSymbols);
    if (symbols != nullptr) {
      index_.Add(debug_, *symbols);
    }
  }
  if (from_own_file) {
    symbols = TableOf(*own_, elf::kSectionDynamicSymbols);
    if (symbols != nullptr) {
      index_.Add(own_, *symbols);
    }
  }
  index_.Finish();
}

void ElfModule::OpenDebugInformation() {
  for (const auto& file : {debug_, own_}) {
    if (file && !dwarf_) {
      dwarf_ = OpenDwarf(file, path_);
    }
  }
}

std::vector<report::SymbolFrame> ElfModule::Lookup(uint64_t address) const {
  // A stub's section can carry a symbol of its own (_PROCEDURE_LINKAGE_TABLE_);
  // the stub is the better answer.
  if (own_) {
    if (auto stub = FindPltStub(*own_, address)) {
      return {MakeFrame(std::move(stub->name), address - stub->start, sure_)};
    }
  }
  auto function = index_.Find(address);
  std::vector<report::SymbolFrame> frames;
  if (dwarf_) {
    for (SourceFrame& source : dwarf_->Find(address)) {
      frames.push_back(MakeFrame(std::move(source), sure_));
    }
  }
  if (!function || function->name.empty()) {
    return frames;
  }
  // The symbol table knows better than the debug information which of several
  // copies of a function this is (foo.cold, foo.part.0).
  if (frames.empty()) {
    frames.emplace_back();
  }
  SetName(std::move(function->name), &frames.back());
  for (report::SymbolFrame& frame : frames) {
    frame.offset = address - function->start;
    frame.name_sure = sure_;
  }
  return frames;
}

bool ElfModule::IsFunctionStart(uint64_t address) const {
  const auto function = index_.Find(address);
  return function && function->start == address;
}

}  // namespace cairn::symbolicate
