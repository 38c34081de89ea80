// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/macho_module.h"

#include <utility>

#include "format/macho_format.h"
#include "symbolicate/debug_files.h"
#include "symbolicate/dsym.h"

namespace cairn::symbolicate {
namespace {

namespace macho = format::macho;

using Slices = std::vector<std::shared_ptr<const MachOFile>>;

constexpr uint64_t kPageMask = ~uint64_t{0xfff};

#if defined(__aarch64__)
constexpr const char* kOwnArchitecture = "arm64";
#else
constexpr const char* kOwnArchitecture = "x86_64";
#endif

std::string NameOf(const MachOFile& file) {
  return macho::ArchitectureName(file.cpu_type(), file.cpu_subtype());
}

std::shared_ptr<const MachOFile> SliceByName(const Slices& slices,
                                             const std::string& name) {
  for (const auto& slice : slices) {
    if (NameOf(*slice) == name) {
      return slice;
    }
  }
  return nullptr;
}

std::shared_ptr<const MachOFile> SliceOf(const Slices& slices,
                                         const report::Image& image) {
  for (const auto& slice : slices) {
    if (!image.id.empty() && slice->uuid() == image.id) {
      return slice;
    }
  }
  for (const auto& slice : slices) {
    if (macho::ArchitectureOf(slice->cpu_type()) == image.architecture) {
      return slice;
    }
  }
  return slices.empty() ? nullptr : slices.front();
}

// Where the image's base was linked. The report's own word counts when it lies
// on the page where the file begins; a report without it says nothing.
uint64_t LinkedBase(const report::Image& image, const MachOFile& file) {
  const uint64_t said = image.address - static_cast<uint64_t>(image.link_bias);
  const uint64_t lowest = file.lowest_address();
  return (said & kPageMask) == (lowest & kPageMask) ? said : lowest;
}

}  // namespace

MachOModule::MachOModule(const report::Image& image, const Options& options) {
  if (!image.path.empty()) {
    own_ = SliceOf(Open(options.sysroot + image.path), image);
  }
  Choose(image.id, options);
  const auto& layout = own_ ? own_ : dsym_;
  base_ = layout ? LinkedBase(image, *layout) : 0;
}

MachOModule::MachOModule(const std::string& path, const Options& options) {
  const Slices slices = Open(path);
  if (slices.empty()) {
    return;
  }
  if (!options.architecture.empty()) {
    own_ = SliceByName(slices, options.architecture);
    if (!own_) {
      status_ = ImageStatus::kMismatch;
      message_ = path + " has no " + options.architecture + " code";
      return;
    }
  } else {
    own_ = SliceByName(slices, kOwnArchitecture);
    own_ = own_ ? own_ : slices.front();
  }
  Choose(own_->uuid(), options);
  sure_ = true;
  const auto& layout = own_ ? own_ : dsym_;
  base_ = layout->lowest_address();
}

MachOModule::Slices MachOModule::Open(const std::string& path) {
  path_ = path;
  OpenError error{};
  const auto source = OpenFileSource(path, &error, &message_);
  if (!source) {
    status_ = error == OpenError::kMissing ? ImageStatus::kMissing
                                           : ImageStatus::kUnreadable;
    return {};
  }
  std::string problem;
  Slices slices = ParseMachOSlices(source, &problem);
  if (slices.empty()) {
    status_ = ImageStatus::kUnreadable;
    message_ = path + ": " + problem;
  }
  return slices;
}

void MachOModule::Choose(const std::vector<uint8_t>& wanted,
                         const Options& options) {
  const bool right = own_ && !wanted.empty() && own_->uuid() == wanted;
  const bool wrong = own_ && !wanted.empty() && !right;
  dsym_ = FindDsym(wanted, path_, options);
  if (!own_ && !dsym_) {
    return;  // the status of Open stands
  }
  // A replaced file says nothing about the old one; its dSYM does.
  if (wrong && dsym_) {
    own_ = nullptr;
  }
  sure_ = right || !own_;
  symbols_.emplace(own_ ? own_ : dsym_, dsym_ ? dsym_ : own_);
  if (symbols_->empty() && own_ && dsym_) {
    symbols_.emplace(own_, own_);  // a dSYM without a symbol table
  }
  status_ = wrong && own_       ? ImageStatus::kMismatch
            : symbols_->empty() ? ImageStatus::kStripped
                                : ImageStatus::kOk;
  message_ = status_ == ImageStatus::kMismatch
                 ? path_ + " has another UUID (" + Hex(own_->uuid()) + ")"
             : status_ == ImageStatus::kStripped
                 ? path_ + " has no symbols and no dSYM was found"
                 : "";
}

std::vector<report::SymbolFrame> MachOModule::Lookup(uint64_t address) const {
  if (!symbols_) {
    return {};
  }
  auto function = symbols_->Find(address);
  if (!function || function->name.empty()) {
    return {};
  }
  return {MakeFrame(std::move(function->name),
                    CodeAddress(address) - function->start,
                    sure_)};
}

bool MachOModule::IsFunctionStart(uint64_t address) const {
  const auto function = symbols_ ? symbols_->Find(address) : std::nullopt;
  return function && function->start == CodeAddress(address);
}

uint64_t MachOModule::CodeAddress(uint64_t address) const {
  const auto& layout = own_ ? own_ : dsym_;
  return layout && layout->cpu_type() == macho::kCpuArm ? address & ~uint64_t{1}
                                                        : address;
}

}  // namespace cairn::symbolicate
