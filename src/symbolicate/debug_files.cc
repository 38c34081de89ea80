// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/debug_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

namespace cairn::symbolicate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemDebugDirectory = "/usr/lib/debug";
// A debug file whose checksum must be taken is read whole; larger ones are left
// alone rather than read for minutes.
constexpr uint64_t kMaxCrcBytes = 4ull << 30;

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value & 1) != 0 ? (value >> 1) ^ 0xedb88320u : value >> 1;
    }
    table[i] = value;
  }
  return table;
}

std::shared_ptr<const ElfFile> OpenElf(const std::string& path) {
  OpenError error{};
  std::string message;
  auto source = OpenFileSource(path, &error, &message);
  return source ? ElfFile::Parse(std::move(source), &message) : nullptr;
}

std::optional<uint32_t> CrcOf(const ByteSource& source) {
  if (source.size() > kMaxCrcBytes) {
    return std::nullopt;
  }
  std::vector<uint8_t> chunk(256u << 10);
  uint32_t crc = 0;
  for (uint64_t at = 0; at < source.size();) {
    const auto bytes = static_cast<size_t>(
        std::min<uint64_t>(chunk.size(), source.size() - at));
    if (!source.Read(at, chunk.data(), bytes)) {
      return std::nullopt;
    }
    crc = DebugLinkCrc(crc, chunk.data(), bytes);
    at += bytes;
  }
  return crc;
}

bool IsDebugFileOf(const ElfFile& debug,
                   const ElfFile& file,
                   const DebugLink& link) {
  if (!debug.build_id().empty() && !file.build_id().empty()) {
    return debug.build_id() == file.build_id();
  }
  return CrcOf(debug.source()) == link.crc;
}

// The directories a debug link is looked up in, for a file at `path`.
std::vector<std::string> LinkDirectories(const std::string& path,
                                         const Options& options) {
  std::vector<std::string> found;
  std::error_code ignored;
  const fs::path as_given = fs::path(path).parent_path();
  const fs::path real = fs::canonical(path, ignored).parent_path();
  for (const fs::path& directory : {as_given, real}) {
    if (directory.empty()) {
      continue;
    }
    found.push_back(directory.string());
    found.push_back((directory / ".debug").string());
    std::string inside = directory.string();
    if (!options.sysroot.empty() && inside.starts_with(options.sysroot)) {
      inside.erase(0, options.sysroot.size());
    }
    if (!inside.starts_with('/')) {
      inside.insert(0, 1, '/');
    }
    found.push_back(options.sysroot + kSystemDebugDirectory + inside);
    for (const std::string& extra : options.debug_directories) {
      found.push_back(extra + inside);
    }
  }
  for (const std::string& extra : options.debug_directories) {
    found.push_back(extra);
  }
  return found;
}

}  // namespace

std::string Hex(const std::vector<uint8_t>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

uint32_t DebugLinkCrc(uint32_t crc, const uint8_t* data, size_t bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrcTable();
  crc = ~crc;
  for (size_t i = 0; i < bytes; ++i) {
    crc = kTable[(crc ^ data[i]) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

std::shared_ptr<const ElfFile> FindDebugFileById(
    const std::vector<uint8_t>& build_id,
    const Options& options) {
  if (build_id.size() < 2) {
    return nullptr;
  }
  const std::string hex = Hex(build_id);
  const std::string name = hex.substr(0, 2) + "/" + hex.substr(2) + ".debug";
  std::vector<std::string> paths = {options.sysroot + kSystemDebugDirectory +
                                    "/.build-id/" + name};
  for (const std::string& directory : options.debug_directories) {
    paths.push_back(directory + "/.build-id/" + name);
    paths.push_back(directory + "/" + name);
  }
  for (const std::string& path : paths) {
    auto file = OpenElf(path);
    if (file && file->build_id() == build_id) {
      return file;
    }
  }
  return nullptr;
}

std::shared_ptr<const ElfFile> FindDebugFileByLink(const ElfFile& file,
                                                   const std::string& path,
                                                   const Options& options) {
  const auto link = file.debug_link();
  if (!link) {
    return nullptr;
  }
  for (const std::string& directory : LinkDirectories(path, options)) {
    auto debug = OpenElf(directory + "/" + link->name);
    if (debug && debug.get() != &file && IsDebugFileOf(*debug, file, *link)) {
      return debug;
    }
  }
  return nullptr;
}

}  // namespace cairn::symbolicate
