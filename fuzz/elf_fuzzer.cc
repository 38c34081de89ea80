// SPDX-License-Identifier: Apache-2.0
//
// Bytes as an ELF file: headers, notes, symbol tables, look-ups.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "symbolicate/demangle.h"
#include "symbolicate/elf_file.h"
#include "symbolicate/elf_format.h"
#include "symbolicate/elf_plt.h"
#include "symbolicate/symbol_index.h"

namespace {

using cairn::symbolicate::ElfFile;
using cairn::symbolicate::ElfSection;
using cairn::symbolicate::SymbolIndex;
namespace elf = cairn::symbolicate::elf;

void LookAround(const ElfFile& file, const SymbolIndex& index) {
  for (const ElfSection& section : file.sections()) {
    if (!section.IsCode()) {
      continue;
    }
    for (uint64_t offset : {0, 1, 16, 100, 4000}) {
      if (auto function = index.Find(section.address + offset)) {
        cairn::symbolicate::Demangle(function->name);
      }
      cairn::symbolicate::FindPltStub(file, section.address + offset);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string error;
  auto file = ElfFile::Parse(
      cairn::symbolicate::MemorySource({data, data + size}), &error);
  if (!file) {
    return 0;
  }
  file->debug_link();
  if (const auto id = file->DerivedId(); !id.empty() && id.size() != 16) {
    std::abort();
  }
  SymbolIndex index;
  for (const ElfSection& section : file->sections()) {
    if (section.type == elf::kSectionSymbols ||
        section.type == elf::kSectionDynamicSymbols) {
      index.Add(file, section);
    }
  }
  index.Finish();
  LookAround(*file, index);
  return 0;
}
