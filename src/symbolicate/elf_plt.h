// SPDX-License-Identifier: Apache-2.0
//
// Names for the linker's call stubs: `foo@plt`.
//
// Ordinary code; knows no platform. x86_64 only: there the stub's jump itself
// tells which slot, and so which function, it goes through.
#ifndef CAIRN_SYMBOLICATE_ELF_PLT_H_
#define CAIRN_SYMBOLICATE_ELF_PLT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "symbolicate/elf_file.h"

namespace cairn::symbolicate {

struct PltStub {
  uint64_t start = 0;
  std::string name;
};

// The stub at a linked address in .plt, .plt.sec or .plt.got. Reads the file's
// relocations at each call.
std::optional<PltStub> FindPltStub(const ElfFile& file, uint64_t address);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_ELF_PLT_H_
