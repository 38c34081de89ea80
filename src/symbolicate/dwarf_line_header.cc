// SPDX-License-Identifier: Apache-2.0
//
// The head of a line program: its shape, its directories and files.
#include <algorithm>

#include "symbolicate/dwarf_constants.h"
#include "symbolicate/dwarf_line_table.h"

namespace cairn::symbolicate {
namespace {

using namespace dwarf;  // NOLINT: the names of one specification

constexpr uint64_t kMaxHeaderBytes = 64u << 20;
constexpr size_t kMaxNames = 1u << 20;
constexpr size_t kMaxFormats = 64;

bool IsAbsolute(const std::string& path) {
  return path.starts_with('/') || (path.size() > 2 && path[1] == ':' &&
                                   (path[2] == '\\' || path[2] == '/'));
}

void Append(const std::string& part, std::string* path) {
  if (!path->empty() && !path->ends_with('/') && !part.empty()) {
    *path += '/';
  }
  *path += part;
}

}  // namespace

bool DwarfLineTable::ReadHeader(uint64_t offset) {
  const DwarfSection& lines = unit_.info->lines();
  uint8_t raw[32] = {};
  const auto there = static_cast<size_t>(std::min<uint64_t>(
      sizeof(raw), lines.size() - std::min(lines.size(), offset)));
  if (!lines.Read(offset, raw, there)) {
    return false;
  }
  DwarfCursor in(raw, there);
  uint64_t length = in.U32();
  header_.sizes = unit_.sizes;
  header_.sizes.offset = length == 0xffffffff ? 8 : 4;
  length = length == 0xffffffff ? in.U64() : length;
  const uint64_t start = offset + in.offset();
  header_.sizes.version = in.U16();
  if (header_.sizes.version >= 5) {
    header_.sizes.address = in.U8();
    in.U8();  // bytes of a segment selector
  }
  const uint64_t header_bytes = in.Unsigned(header_.sizes.offset);
  const uint64_t fields = offset + in.offset();
  if (!in.ok() || length > lines.size() - start || header_.sizes.version < 2 ||
      header_.sizes.version > 5 || header_bytes > start + length - fields) {
    return false;
  }
  header_.program = fields + header_bytes;
  header_.end = start + length;
  const auto bytes =
      lines.Part(fields, std::min(header_bytes, kMaxHeaderBytes));
  DwarfCursor rest(bytes.data(), bytes.size());
  header_.least_bytes = rest.U8();
  header_.operations = header_.sizes.version >= 4 ? rest.U8() : uint8_t{1};
  rest.U8();  // default of is_stmt
  header_.line_base = static_cast<int8_t>(rest.U8());
  header_.line_range = rest.U8();
  header_.opcode_base = rest.U8();
  header_.operands.assign(1, 0);
  for (int i = 1; i < header_.opcode_base; ++i) {
    header_.operands.push_back(rest.U8());
  }
  if (!rest.ok() || header_.line_range == 0 || header_.opcode_base == 0) {
    return false;
  }
  ReadNames(fields, &rest);
  return true;
}

void DwarfLineTable::ReadNames(uint64_t base, DwarfCursor* in) {
  if (header_.sizes.version >= 5) {
    ReadNames5(base, in, &directories_);
    ReadNames5(base, in, &files_);
    return;
  }
  // Numbers count from 1; directory 0 is the unit's.
  directories_.emplace_back();
  while (in->ok() && directories_.size() < kMaxNames) {
    const uint64_t at = base + in->offset();
    if (in->Text().empty()) {
      break;
    }
    directories_.push_back({{kFormString, at, {}}, 0});
  }
  files_.emplace_back();
  while (in->ok() && files_.size() < kMaxNames) {
    const uint64_t at = base + in->offset();
    if (in->Text().empty()) {
      break;
    }
    files_.push_back({{kFormString, at, {}}, in->Uleb()});
    in->SkipLeb();  // time
    in->SkipLeb();  // size
  }
}

void DwarfLineTable::ReadNames5(uint64_t base,
                                DwarfCursor* in,
                                std::vector<Name>* names) {
  struct Format {
    uint64_t content;
    DwarfAttributeSpec spec;
  };
  std::vector<Format> formats;
  for (size_t count = in->U8(); count != 0 && in->ok(); --count) {
    const uint64_t content = in->Uleb();
    const auto form = static_cast<uint16_t>(in->Uleb());
    if (formats.size() < kMaxFormats) {
      formats.push_back({content, {0, form, 0}});
    }
  }
  uint64_t count = in->Uleb();
  for (; count != 0 && in->ok() && !in->at_end() && names->size() < kMaxNames;
       --count) {
    Name name;
    for (const Format& format : formats) {
      const uint64_t at = base + in->offset();
      DwarfValue value = ReadForm(format.spec, header_.sizes, in);
      if (format.content == kContentPath) {
        if (value.form == kFormString) {
          value.number = at;
          value.text = {};
        }
        name.value = value;
      } else if (format.content == kContentDirectory) {
        name.directory = value.number;
      }
    }
    names->push_back(name);
  }
}

std::string DwarfLineTable::TextOf(const Name& name) const {
  if (name.value.form == kFormString) {
    return unit_.info->lines().Text(name.value.number);
  }
  return unit_.info->Text(unit_, name.value);
}

std::string DwarfLineTable::File(uint64_t number) const {
  if (number >= files_.size() || !files_[number].value) {
    return "";
  }
  const Name& file = files_[number];
  const std::string name = TextOf(file);
  if (IsAbsolute(name)) {
    return name;
  }
  std::string directory;
  if (file.directory < directories_.size() &&
      directories_[file.directory].value) {
    directory = TextOf(directories_[file.directory]);
  }
  std::string path;
  const bool is_own = header_.sizes.version >= 5 && file.directory == 0;
  if (!is_own && !IsAbsolute(directory)) {
    path = unit_.directory;
  }
  Append(directory, &path);
  Append(name, &path);
  return path;
}

}  // namespace cairn::symbolicate
