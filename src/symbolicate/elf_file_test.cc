// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/elf_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "symbolicate/elf_format.h"
#include "symbolicate/symbol_index.h"
#include "symbolicate/symbolicator.h"
#include "symbolicate/testdata/tools.h"

namespace cairn::symbolicate {
namespace {

std::vector<uint8_t> BytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Everything the reader does with a file; what it finds does not matter here.
void Exercise(std::vector<uint8_t> bytes) {
  std::string error;
  auto file = ElfFile::Parse(MemorySource(std::move(bytes)), &error);
  if (!file) {
    EXPECT_NE(error, "");
    return;
  }
  file->debug_link();
  SymbolIndex index;
  for (const ElfSection& section : file->sections()) {
    if (section.type == elf::kSectionSymbols ||
        section.type == elf::kSectionDynamicSymbols) {
      index.Add(file, section);
    }
  }
  index.Finish();
  for (uint64_t address = 0; address < 0x3000; address += 0x35) {
    index.Find(address);
  }
}

std::string ErrorOf(std::vector<uint8_t> bytes) {
  std::string error;
  EXPECT_FALSE(ElfFile::Parse(MemorySource(std::move(bytes)), &error));
  return error;
}

TEST(ElfFile, BuildIdAsReadelfPrintsIt) {
  for (const char* name :
       {"pie", "static", "bits32", "linked.debug", "no_id", "stripped"}) {
    std::string error;
    auto file = ElfFile::Parse(MemorySource(BytesOf(Program(name))), &error);
    ASSERT_TRUE(file) << error;
    EXPECT_EQ(file->build_id(), BuildIdBytes(Program(name))) << name;
    EXPECT_EQ(file->is_64(), std::string(name) != "bits32");
  }
}

TEST(ElfFile, RefusesWhatItCannotReadAndSaysWhy) {
  EXPECT_EQ(ErrorOf({}), "not an ELF file");
  EXPECT_EQ(ErrorOf(std::vector<uint8_t>(4096, 0)), "not an ELF file");
  std::vector<uint8_t> bytes = BytesOf(Program("pie"));
  bytes[5] = 2;
  EXPECT_NE(ErrorOf(bytes).find("big-endian"), std::string::npos);
  bytes[5] = 1;
  bytes[16] = 1;
  EXPECT_NE(ErrorOf(bytes).find("relocatable"), std::string::npos);
  bytes[16] = 4;
  EXPECT_NE(ErrorOf(bytes).find("core"), std::string::npos);
}

// Found by the fuzzer: a table said to be of gigabytes in a file of a kilobyte
// was allocated before it was looked for.
TEST(ElfFile, SectionTableLargerThanTheFileIsNone) {
  std::vector<uint8_t> bytes = BytesOf(Program("pie"));
  bytes[60] = 0xf0;  // e_shnum
  bytes[61] = 0xff;
  std::string error;
  const auto file = ElfFile::Parse(MemorySource(bytes), &error);
  ASSERT_TRUE(file) << error;
  EXPECT_TRUE(file->sections().empty());
  bytes[58] = 0xff;  // e_shentsize
  bytes[59] = 0xff;
  EXPECT_TRUE(ElfFile::Parse(MemorySource(bytes), &error)->sections().empty());
}

TEST(ElfFile, CutAnywhereDoesNoHarm) {
  const std::vector<uint8_t> whole = BytesOf(Program("bits32"));
  for (size_t size = 0; size < whole.size(); size += size < 1024 ? 1 : 61) {
    Exercise({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)});
  }
}

TEST(ElfFile, DamagedAnywhereDoesNoHarm) {
  std::mt19937 random(7);
  for (const char* name : {"bits32", "linked"}) {
    const std::vector<uint8_t> whole = BytesOf(Program(name));
    for (int round = 0; round < 400; ++round) {
      std::vector<uint8_t> bytes = whole;
      // Half of the hits in the headers, where they hurt.
      for (int hit = 0; hit < 8; ++hit) {
        const size_t reach = hit % 2 == 0 ? 64 : bytes.size();
        const size_t tail = hit % 4 == 1 ? 2000 : reach;
        bytes[hit % 4 == 1 ? bytes.size() - 1 - random() % tail
                           : 16 + random() % (reach - 16)] =
            static_cast<uint8_t>(random());
      }
      Exercise(std::move(bytes));
    }
  }
}

// The file shrinks after it was opened: a lost name, not a SIGBUS.
TEST(ElfFile, FileTruncatedUnderneathLosesNamesOnly) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/program";
  std::filesystem::copy(Program("pie"), path);
  const NmFunction first = NmFunctions(path).front();
  Symbolicator symbolicator;
  std::string error;
  ASSERT_FALSE(symbolicator.LookupFile(path, first.address, &error).empty());
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_TRUE(symbolicator.LookupFile(path, first.address, &error).empty());
}

TEST(ElfFile, FifoAndDirectoryAreRefusedWithoutWaiting) {
  const ScratchDirectory scratch;
  const std::string fifo = scratch.path() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, scratch.path()}) {
    OpenError error{};
    std::string message;
    EXPECT_FALSE(OpenFileSource(path, &error, &message));
    EXPECT_EQ(error, OpenError::kUnreadable);
  }
}

}  // namespace
}  // namespace cairn::symbolicate
