// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/symbolicator.h"

#include <map>
#include <tuple>
#include <utility>

#include "symbolicate/module.h"

namespace cairn::symbolicate {
namespace {

// Each open module keeps up to two descriptors.
constexpr size_t kMaxOpenModules = 256;

using ModuleKey =
    std::tuple<std::string, std::vector<uint8_t>, bool, uint64_t, int64_t>;

}  // namespace

const char* Name(ImageStatus status) {
  switch (status) {
    case ImageStatus::kOk:
      return "ok";
    case ImageStatus::kStripped:
      return "stripped";
    case ImageStatus::kMissing:
      return "missing";
    case ImageStatus::kMismatch:
      return "mismatch";
    case ImageStatus::kUnreadable:
      return "unreadable";
  }
  return "unreadable";
}

struct Symbolicator::Impl {
  explicit Impl(Options given) : options(std::move(given)) {}

  Module& ModuleOf(const report::Image& image) {
    ModuleKey key(image.path,
                  image.id,
                  image.id_is_derived,
                  image.address,
                  image.link_bias);
    auto found = modules.find(key);
    if (found != modules.end()) {
      return *found->second;
    }
    Trim();
    auto made = OpenModule(image, options);
    return *(modules[std::move(key)] = std::move(made));
  }

  Module& ModuleOf(const std::string& path) {
    auto& module = files[path];
    if (!module) {
      module = OpenModule(path, options);
    }
    return *module;
  }

  void Trim() {
    if (modules.size() >= kMaxOpenModules) {
      modules.clear();
    }
  }

  // The names for one frame of a report. A return address is that of the
  // instruction behind the call, which may belong to the next function: the
  // call itself ends one byte lower.
  std::vector<report::SymbolFrame> Names(const report::Image& image,
                                         const report::Frame& frame) {
    Module& module = ModuleOf(image);
    const uint64_t address =
        module.CodeAddress(module.LinkedAddress(frame.image_offset));
    if (frame.kind != format::FrameKind::kReturn) {
      return module.Lookup(address);
    }
    auto names = module.Lookup(address - 1);
    const bool has_name = !names.empty() && !names.back().function.empty();
    if (!has_name && module.IsFunctionStart(address)) {
      // No call lies before it: a handler returns to a signal trampoline.
      return module.Lookup(address);
    }
    for (auto& name : names) {
      if (name.offset) {
        *name.offset += 1;  // what is shown is the address itself
      }
    }
    return names;
  }

  Options options;
  std::map<ModuleKey, std::unique_ptr<Module>> modules;
  std::map<std::string, std::unique_ptr<Module>> files;
};

Symbolicator::Symbolicator(Options options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
Symbolicator::~Symbolicator() = default;

void Symbolicator::Symbolicate(report::Report* report) {
  using Key = std::tuple<uint32_t, uint64_t, format::FrameKind>;
  std::map<Key, std::vector<report::SymbolFrame>> known;
  std::map<uint32_t, std::string> statuses;
  for (report::Thread& thread : report->threads) {
    for (report::Frame& frame : thread.frames) {
      if (!frame.image || *frame.image >= report->images.size()) {
        continue;
      }
      const report::Image& image = report->images[*frame.image];
      if (statuses.find(*frame.image) == statuses.end()) {
        statuses[*frame.image] = Name(impl_->ModuleOf(image).status());
      }
      if (!frame.symbols.empty()) {
        continue;
      }
      const Key key(*frame.image, frame.image_offset, frame.kind);
      auto found = known.find(key);
      if (found == known.end()) {
        found = known.emplace(key, impl_->Names(image, frame)).first;
      }
      frame.symbols = found->second;
    }
  }
  report->symbol_status.assign(statuses.begin(), statuses.end());
}

std::vector<report::SymbolFrame> Symbolicator::Lookup(
    const report::Image& image,
    uint64_t lookup_offset) {
  Module& module = impl_->ModuleOf(image);
  return module.Lookup(module.LinkedAddress(lookup_offset));
}

std::vector<report::SymbolFrame> Symbolicator::LookupFile(
    const std::string& path,
    uint64_t address,
    std::string* error) {
  Module& module = impl_->ModuleOf(path);
  error->assign(module.message());
  return module.Lookup(address);
}

ImageStatus Symbolicator::StatusOf(const report::Image& image) {
  return impl_->ModuleOf(image).status();
}

}  // namespace cairn::symbolicate
