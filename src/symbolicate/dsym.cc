// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/dsym.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace cairn::symbolicate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInside = "Contents/Resources/DWARF";
constexpr size_t kMaxParents = 64;

class Search {
 public:
  explicit Search(const std::vector<uint8_t>& uuid) : uuid_(uuid) {}

  // The file at `path` when it has the slice that is looked for.
  bool Try(const fs::path& path) {
    OpenError error{};
    std::string message;
    if (--left_ < 0) {
      return false;
    }
    const auto source = OpenFileSource(path.string(), &error, &message);
    if (!source || !IsMachO(*source)) {
      return false;
    }
    for (auto& slice : ParseMachOSlices(source, &message)) {
      if (slice->uuid() == uuid_) {
        found_ = slice;
        return true;
      }
    }
    return false;
  }

  bool TryBundle(const fs::path& bundle) {
    return EachEntry(bundle / kInside,
                     [this](const fs::path& file) { return Try(file); });
  }

  // Bundles in a directory, and files that lie there by themselves.
  bool TryDirectory(const fs::path& directory) {
    return EachEntry(directory, [this](const fs::path& entry) {
      return entry.extension() == ".dSYM" ? TryBundle(entry) : Try(entry);
    });
  }

  std::shared_ptr<const MachOFile> found() const { return found_; }

 private:
  // In order of name, so that the answer does not depend on the file system.
  template <typename Function>
  bool EachEntry(const fs::path& directory, Function function) {
    std::error_code error;
    std::vector<fs::path> entries;
    for (fs::directory_iterator at(directory, error), end;
         !error && at != end && entries.size() < kMaxDsymCandidates;
         at.increment(error)) {
      entries.push_back(at->path());
    }
    std::sort(entries.begin(), entries.end());
    return std::any_of(entries.begin(), entries.end(), function);
  }

  const std::vector<uint8_t>& uuid_;
  int left_ = kMaxDsymCandidates;
  std::shared_ptr<const MachOFile> found_;
};

// PATH, and each folder above it that has an extension, as bundles do.
std::vector<fs::path> Neighbours(const std::string& path) {
  std::vector<fs::path> found = {path + ".dSYM"};
  fs::path folder = fs::path(path).parent_path();
  for (size_t i = 0; i < kMaxParents && folder.has_relative_path(); ++i) {
    if (folder.has_extension()) {
      found.emplace_back(folder.string() + ".dSYM");
    }
    folder = folder.parent_path();
  }
  return found;
}

}  // namespace

std::shared_ptr<const MachOFile> FindDsym(const std::vector<uint8_t>& uuid,
                                          const std::string& path,
                                          const Options& options) {
  if (uuid.empty()) {
    return nullptr;
  }
  Search search(uuid);
  for (const fs::path& bundle : Neighbours(path)) {
    if (!path.empty() && search.TryBundle(bundle)) {
      return search.found();
    }
  }
  for (const std::string& directory : options.debug_directories) {
    if (search.TryDirectory(directory)) {
      return search.found();
    }
  }
  return nullptr;
}

}  // namespace cairn::symbolicate
