// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/elf_dwarf.h"

#include <cstring>
#include <utility>
#include <vector>

#include "symbolicate/debug_files.h"
#include "symbolicate/elf_sections.h"

namespace cairn::symbolicate {
namespace {

constexpr size_t kMaxLinkBytes = 8192;
constexpr const char* kDwzDirectory = "/usr/lib/debug/.dwz/";

std::shared_ptr<const ElfFile> OpenSplit(const std::string& path) {
  OpenError error{};
  std::string message;
  auto source = OpenFileSource(path, &error, &message);
  return source ? ElfFile::ParseSplit(std::move(source), &message) : nullptr;
}

std::shared_ptr<const ElfFile> OpenWithId(const std::string& path,
                                          const std::vector<uint8_t>& id) {
  OpenError error{};
  std::string message;
  auto source = OpenFileSource(path, &error, &message);
  auto file = source ? ElfFile::Parse(std::move(source), &message) : nullptr;
  return file && file->build_id() == id ? file : nullptr;
}

// The link: a path, a zero byte, a build-id.
std::shared_ptr<const DebugSections> OpenAlternate(const ElfFile& file,
                                                   const std::string& path) {
  const ElfSection* section = file.FindSection(".gnu_debugaltlink");
  const auto link = section != nullptr ? file.Contents(*section, kMaxLinkBytes)
                                       : std::nullopt;
  if (!link || link->empty()) {
    return nullptr;
  }
  const std::string name(
      reinterpret_cast<const char*>(link->data()),
      strnlen(reinterpret_cast<const char*>(link->data()), link->size()));
  if (name.empty() || name.size() + 1 >= link->size()) {
    return nullptr;
  }
  const std::vector<uint8_t> id(
      link->begin() + static_cast<ptrdiff_t>(name.size() + 1), link->end());
  const std::string folder = path.substr(0, path.find_last_of('/') + 1);
  const std::string base = name.substr(name.find_last_of('/') + 1);
  std::shared_ptr<const ElfFile> found =
      OpenWithId(name.starts_with('/') ? name : folder + name, id);
  for (const std::string& other : {folder + base, kDwzDirectory + base}) {
    found = found ? found : OpenWithId(other, id);
  }
  found = found ? found : FindDebugFileById(id, Options());
  return found ? std::make_shared<ElfSections>(found) : nullptr;
}

}  // namespace

std::unique_ptr<DwarfFile> OpenDwarf(std::shared_ptr<const ElfFile> file,
                                     const std::string& path) {
  auto sections = std::make_shared<ElfSections>(file);
  SplitFiles split;
  split.open_package = [path]() -> std::shared_ptr<const DebugSections> {
    auto package = OpenSplit(path + ".dwp");
    return package ? std::make_shared<ElfSections>(package) : nullptr;
  };
  split.open_object =
      [](const std::string& name) -> std::shared_ptr<const DebugSections> {
    auto object = OpenSplit(name);
    return object ? std::make_shared<ElfSections>(object) : nullptr;
  };
  auto dwarf = std::make_unique<DwarfFile>(
      std::move(sections), OpenAlternate(*file, path), std::move(split));
  return dwarf->empty() ? nullptr : std::move(dwarf);
}

}  // namespace cairn::symbolicate
