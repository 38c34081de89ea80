// SPDX-License-Identifier: Apache-2.0
//
// The kernel's own shared object, which no file holds.
#ifndef CAIRN_SYMBOLICATE_VDSO_H_
#define CAIRN_SYMBOLICATE_VDSO_H_

#include <memory>
#include <string>

#include "symbolicate/byte_source.h"

namespace cairn::symbolicate {

// True for the names that loaders and /proc give the vDSO.
inline bool IsVdsoName(const std::string& path) {
  return path == "[vdso]" || path.starts_with("linux-vdso") ||
         path.starts_with("linux-gate");
}

// A copy of this process's vDSO; null where there is none. Good for a report
// only when the build-ids are equal.
std::shared_ptr<const ByteSource> OwnVdso();

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_VDSO_H_
