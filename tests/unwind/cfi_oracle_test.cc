// SPDX-License-Identifier: Apache-2.0
//
// Every row of every function's call frame information in real files, as we
// compute it, against what readelf prints for it.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "capture/cfi_program.h"
#include "capture/cfi_table.h"
#include "symbolicate/elf_file.h"

namespace cairn::capture {
namespace {

constexpr const char* kNames[] = {"rax",
                                  "rdx",
                                  "rcx",
                                  "rbx",
                                  "rsi",
                                  "rdi",
                                  "rbp",
                                  "rsp",
                                  "r8",
                                  "r9",
                                  "r10",
                                  "r11",
                                  "r12",
                                  "r13",
                                  "r14",
                                  "r15",
                                  "ra"};
constexpr size_t kMostSectionBytes = size_t{64} << 20;

// A section at an address.
struct Part {
  uint64_t address;
  std::vector<uint8_t> bytes;
};

size_t ReadParts(void* context, uint64_t address, void* out, size_t bytes) {
  for (const Part& part : *static_cast<std::vector<Part>*>(context)) {
    const uint64_t offset = address - part.address;
    if (address >= part.address && offset < part.bytes.size()) {
      const size_t count = std::min(bytes, part.bytes.size() - offset);
      std::memcpy(out, part.bytes.data() + offset, count);
      return count;
    }
  }
  return 0;
}

// A file's tables: those of .eh_frame_hdr, or .debug_frame at an address of our
// own.
struct Tables {
  std::vector<Part> parts;
  CfiTables loaded = {};
  DebugFrames debug = {};

  bool Open(const std::string& path, bool want_debug) {
    std::string error;
    symbolicate::OpenError open_error = {};
    const auto source = symbolicate::OpenFileSource(path, &open_error, &error);
    const auto file =
        source ? symbolicate::ElfFile::Parse(source, &error) : nullptr;
    if (file == nullptr) {
      return false;
    }
    for (const char* name : {".eh_frame_hdr", ".eh_frame", ".debug_frame"}) {
      const symbolicate::ElfSection* section = file->FindSection(name);
      auto bytes = section == nullptr
                       ? std::nullopt
                       : file->Contents(*section, kMostSectionBytes);
      if (bytes.has_value()) {
        parts.push_back(Part{section->address, *bytes});
      }
      if (name == std::string(".eh_frame_hdr") && section != nullptr) {
        loaded.header = section->address;
        loaded.header_bytes = section->bytes;
      }
    }
    if (want_debug && !parts.empty()) {
      debug = {{&ReadParts, &parts},
               parts.back().address,
               parts.back().bytes.size()};
    }
    return want_debug ? debug.bytes != 0 : loaded.header != 0;
  }

  safe::MemoryReader reader() { return {&ReadParts, &parts}; }
  CfiLookup Find(uint64_t address, CfiEntry* entry) {
    uint32_t budget = 1 << 20;
    return debug.bytes != 0
               ? FindDebugFrame(debug, address, 8, &budget, entry)
               : FindCfi(reader(), loaded, address, 8, &budget, entry);
  }
};

std::string Signed(int32_t value) {
  return (value < 0 ? "" : "+") + std::to_string(value);
}

std::string CfaText(const CfiRow& row) {
  return row.cfa_rule == CfaRule::kExpression
             ? "exp"
             : kNames[row.cfa_register] + Signed(row.cfa_value);
}

std::string RuleText(const CfiRow& row, size_t column) {
  const int32_t value = row.value[column];
  switch (row.rule[column]) {
    case RegisterRule::kUnspecified:
    case RegisterRule::kUndefined:
      return "u";
    case RegisterRule::kSameValue:
      return "s";
    case RegisterRule::kOffset:
      return "c" + Signed(value);
    case RegisterRule::kValueOffset:
      return "v" + Signed(value);
    case RegisterRule::kRegister:
      return kNames[value];
    case RegisterRule::kExpression:
      return "exp";
    case RegisterRule::kValueExpression:
      return "vexp";
  }
  return "";
}

struct Counts {
  size_t rows = 0;
  size_t wrong = 0;
};

// One line of readelf's table, `words[0]` the location, for the registers that
// `heads` names.
void CompareRow(Tables* tables,
                const std::vector<std::string>& heads,
                const std::vector<std::string>& words,
                Counts* counts) {
  const uint64_t address = std::stoull(words[0], nullptr, 16);
  CfiEntry entry;
  CfiRow row;
  ++counts->rows;
  std::string ours = "no row";
  std::string theirs = words[1];
  if (tables->Find(address, &entry) == CfiLookup::kFound &&
      RunCfiProgram(tables->reader(), entry, address, 8, &row)) {
    ours = CfaText(row);
  }
  for (size_t i = 2; i < words.size(); ++i) {
    for (size_t column = 0; column < std::size(kNames); ++column) {
      if (heads[i] == kNames[column]) {
        theirs += " " + words[i];
        ours += ours == "no row" ? "" : " " + RuleText(row, column);
      }
    }
  }
  if (ours != theirs && ++counts->wrong <= 5) {
    ADD_FAILURE() << words[0] << ": " << ours << ", readelf: " << theirs;
  }
}

Counts CompareFile(const std::string& path, bool debug) {
  Counts counts;
  Tables tables;
  if (!tables.Open(path, debug)) {
    ADD_FAILURE() << "cannot open " << path;
    return counts;
  }
  const std::string command =
      "readelf --wide --debug-dump=frames-interp " + path + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  char line[1024];
  bool is_fde = false;
  bool is_wanted_section = false;
  const std::string wanted = debug ? ".debug_frame" : ".eh_frame";
  std::vector<std::string> heads;
  while (std::fgets(line, sizeof(line), pipe) != nullptr) {
    const std::string text = line;
    if (text.starts_with("Contents of the")) {
      is_wanted_section = text.find(wanted + " ") != std::string::npos;
      continue;
    }
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
      words.push_back(word);
    }
    if (words.size() > 3 && (words[3] == "CIE" || words[3] == "FDE")) {
      is_fde = words[3] == "FDE";
      heads.clear();
    } else if (!words.empty() && words[0] == "LOC") {
      heads = words;
    } else if (is_wanted_section && is_fde && !heads.empty() &&
               words.size() == heads.size()) {
      CompareRow(&tables, heads, words, &counts);
    }
  }
  pclose(pipe);
  std::printf(
      "%s: %zu rows, %zu wrong\n", path.c_str(), counts.rows, counts.wrong);
  return counts;
}

TEST(CfiOracle, RowsOfRealFilesAreThoseOfReadelf) {
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6",
                           "/lib64/ld-linux-x86-64.so.2",
                           "/lib/x86_64-linux-gnu/libgcc_s.so.1",
                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                           "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"}) {
    const Counts counts = CompareFile(path, false);
    EXPECT_GT(counts.rows, 500u) << path;
    EXPECT_EQ(counts.wrong, 0u) << path;
  }
}

TEST(CfiOracle, RowsOfDebugFrameAreThoseOfReadelf) {
  const Counts counts = CompareFile(CAIRN_DEBUG_FRAME_PROGRAM, true);
  EXPECT_GT(counts.rows, 15u);
  EXPECT_EQ(counts.wrong, 0u);
}

}  // namespace
}  // namespace cairn::capture
