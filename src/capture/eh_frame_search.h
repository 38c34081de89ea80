// SPDX-License-Identifier: Apache-2.0
//
// Finds .eh_frame in an image that has no PT_GNU_EH_FRAME. Programs linked with
// -static have none, and section headers are not in memory: the section is
// known by its shape, a CIE followed by FDEs whose code lies in the image.
//
// Crash time: yes. Reads at most 16 MiB of read-only segments, once an image.
#ifndef CAIRN_CAPTURE_EH_FRAME_SEARCH_H_
#define CAIRN_CAPTURE_EH_FRAME_SEARCH_H_

#include "capture/image_table.h"
#include "safe/memory_reader.h"

namespace cairn::capture {

// Sets `eh_frame` and `eh_frame_bytes` of `image`, whose segments are filled;
// leaves them 0 when nothing has that shape.
void FindEhFrame(const safe::MemoryReader& memory,
                 int pointer_bytes,
                 Image* image);

}  // namespace cairn::capture

#endif  // CAIRN_CAPTURE_EH_FRAME_SEARCH_H_
