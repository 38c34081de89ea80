// SPDX-License-Identifier: Apache-2.0
//
// A Mach-O image that is loaded, read as the file it came from: libraries of
// the shared cache have no file at all.
//
// Ordinary code: it allocates, and reads symbol tables that may have been paged
// out. Takes no lock of the loader.
#ifndef CAIRN_SYMBOLICATE_LOADED_MACHO_H_
#define CAIRN_SYMBOLICATE_LOADED_MACHO_H_

#include <cstdint>
#include <memory>
#include <string>

#include "safe/memory_reader.h"
#include "symbolicate/macho_file.h"

namespace cairn::symbolicate {

// The image whose header is loaded at `header`. A file offset is turned into an
// address by its segment: vmaddr − fileoff + slide. What no segment maps cannot
// be read (the symbols of local functions in the shared cache).
//
// `memory`'s context must outlive the file. Null with `error` on failure.
std::shared_ptr<const MachOFile> ParseLoadedMachO(
    const safe::MemoryReader& memory,
    uint64_t header,
    std::string* error);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_LOADED_MACHO_H_
