// SPDX-License-Identifier: Apache-2.0
//
// Bytes as a Mach-O file: load commands, fat tables, function starts, export
// trie, symbol look-ups; and as an image in memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "capture/macho_image.h"
#include "symbolicate/demangle.h"
#include "symbolicate/loaded_macho.h"
#include "symbolicate/macho_file.h"
#include "symbolicate/macho_linkedit.h"
#include "symbolicate/macho_symbols.h"

namespace {

using cairn::symbolicate::MachOFile;
using cairn::symbolicate::MachOSymbols;

struct Input {
  const uint8_t* data;
  size_t size;
};

constexpr uint64_t kHeader = 0x100000000;

size_t ReadSome(void* context, uint64_t address, void* out, size_t bytes) {
  const auto* input = static_cast<const Input*>(context);
  if (bytes == 0 || address < kHeader || address - kHeader >= input->size) {
    return 0;
  }
  const size_t offset = address - kHeader;
  const size_t count = std::min(bytes, input->size - offset);
  std::memcpy(out, input->data + offset, count);
  return count;
}

void LookAround(const MachOSymbols& symbols, const MachOFile& file) {
  for (const auto& section : file.sections()) {
    for (uint64_t offset : {0, 1, 16, 100, 4000}) {
      if (const auto found = symbols.Find(section.address + offset)) {
        cairn::symbolicate::Demangle(found->name);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string error;
  const auto source = cairn::symbolicate::MemorySource({data, data + size});
  for (const auto& file :
       cairn::symbolicate::ParseMachOSlices(source, &error)) {
    LookAround(MachOSymbols(file, file), *file);
  }
  Input input = {data, size};
  const cairn::safe::MemoryReader memory = {ReadSome, &input};
  static cairn::capture::Image image;
  cairn::capture::MachOFacts facts;
  cairn::capture::FillMachOImage(memory, kHeader, &facts, &image);
  if (const auto loaded =
          cairn::symbolicate::ParseLoadedMachO(memory, kHeader, &error)) {
    LookAround(MachOSymbols(loaded, loaded), *loaded);
  }
  cairn::symbolicate::DecodeExports({data, data + size});
  cairn::symbolicate::DecodeFunctionStarts({data, data + size}, 0);
  return 0;
}
