// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "upload/no_replace.h"

namespace cairn::upload {

bool RenameNoReplace(int directory, const char* from, const char* to) {
  return renameatx_np(directory, from, directory, to, RENAME_EXCL) == 0;
}

}  // namespace cairn::upload
