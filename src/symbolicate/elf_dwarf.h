// SPDX-License-Identifier: Apache-2.0
//
// Opens the DWARF of an ELF file with what belongs to it: the file that dwz
// shared (.gnu_debugaltlink), split units in PATH.dwp or .dwo files.
//
// Ordinary code, one thread.
#ifndef CAIRN_SYMBOLICATE_ELF_DWARF_H_
#define CAIRN_SYMBOLICATE_ELF_DWARF_H_

#include <memory>
#include <string>

#include "symbolicate/dwarf_file.h"
#include "symbolicate/elf_file.h"

namespace cairn::symbolicate {

// Null when the file has no .debug_info. `path`: where the program lies. The
// shared file counts only with the build-id that the link tells.
std::unique_ptr<DwarfFile> OpenDwarf(std::shared_ptr<const ElfFile> file,
                                     const std::string& path);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_ELF_DWARF_H_
