// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include "upload/no_replace.h"

namespace cairn::upload {

bool RenameNoReplace(int directory, const char* from, const char* to) {
  constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE
  return syscall(SYS_renameat2, directory, from, directory, to, kNoReplace) ==
         0;
}

}  // namespace cairn::upload
