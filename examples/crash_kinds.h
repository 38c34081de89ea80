// SPDX-License-Identifier: Apache-2.0
//
// Ways to die, deep in a photo importer.
#ifndef CAIRN_EXAMPLES_CRASH_KINDS_H_
#define CAIRN_EXAMPLES_CRASH_KINDS_H_

#include <string>
#include <vector>

namespace sample {

// Names that ImportAlbum knows, in the order in which they are told to people.
std::vector<std::string> CrashKinds();

// Imports a few photos; the third one kills the process in the given way. With
// an unknown kind, such as "", all of them are fine. Returns how many were
// imported.
int ImportAlbum(const std::string& kind);

}  // namespace sample

#endif  // CAIRN_EXAMPLES_CRASH_KINDS_H_
