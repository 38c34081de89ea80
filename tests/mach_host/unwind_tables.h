// SPDX-License-Identifier: Apache-2.0
//
// Exceptions of a Mach-O program run through this process's unwinder, which
// reads
// `.eh_frame`: its compact unwind is turned into such a table (<mach-o/
// compact_unwind_encoding.h> says what each encoding means).
#ifndef MACH_HOST_UNWIND_TABLES_H_
#define MACH_HOST_UNWIND_TABLES_H_

#include "image.h"

namespace mach_host {

void RegisterUnwindTables(const Image& image);

}  // namespace mach_host

#endif  // MACH_HOST_UNWIND_TABLES_H_
