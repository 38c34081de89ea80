// SPDX-License-Identifier: Apache-2.0
//
// Where the separate symbol file of a Mach-O image lies: the file in a bundle
// NAME.dSYM/Contents/Resources/DWARF/, known by its UUID.
//
// Ordinary code. Only files of this machine are looked at.
#ifndef CAIRN_SYMBOLICATE_DSYM_H_
#define CAIRN_SYMBOLICATE_DSYM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbolicate/macho_file.h"
#include "symbolicate/symbolicator.h"

namespace cairn::symbolicate {

// Looked for, in this order: PATH.dSYM; BUNDLE.dSYM beside each bundle that
// `path` lies in (Foo.app, Foo.framework); bundles and plain files in each of
// Options::debug_directories. At most kMaxDsymCandidates files are opened. One
// with another UUID is not taken, nor is any when `uuid` is empty.
inline constexpr int kMaxDsymCandidates = 2000;
std::shared_ptr<const MachOFile> FindDsym(const std::vector<uint8_t>& uuid,
                                          const std::string& path,
                                          const Options& options);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DSYM_H_
