// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/module.h"

#include <utility>

#include "symbolicate/demangle.h"
#include "symbolicate/elf_module.h"
#include "symbolicate/macho_module.h"

namespace cairn::symbolicate {
namespace {

constexpr size_t kUuidBytes = 16;

bool IsMachOFile(const std::string& path) {
  OpenError error{};
  std::string message;
  const auto source = OpenFileSource(path, &error, &message);
  return source && IsMachO(*source);
}

}  // namespace

std::unique_ptr<Module> OpenModule(const report::Image& image,
                                   const Options& options) {
  if (!image.path.empty() && IsMachOFile(options.sysroot + image.path)) {
    return std::make_unique<MachOModule>(image, options);
  }
  auto elf = std::make_unique<ElfModule>(image, options);
  if (elf->status() == ImageStatus::kMissing && image.id.size() == kUuidBytes) {
    // The id may be a UUID, and a dSYM there without the program.
    auto macho = std::make_unique<MachOModule>(image, options);
    if (macho->status() != ImageStatus::kMissing) {
      return macho;
    }
  }
  return elf;
}

std::unique_ptr<Module> OpenModule(const std::string& path,
                                   const Options& options) {
  if (IsMachOFile(path)) {
    return std::make_unique<MachOModule>(path, options);
  }
  return std::make_unique<ElfModule>(path, options);
}

report::SymbolFrame MakeFrame(std::string name,
                              uint64_t offset,
                              bool name_sure) {
  report::SymbolFrame frame;
  frame.function = Demangle(name);
  if (frame.function != name) {
    frame.function_mangled = std::move(name);
  }
  frame.offset = offset;
  frame.name_sure = name_sure;
  return frame;
}

}  // namespace cairn::symbolicate
