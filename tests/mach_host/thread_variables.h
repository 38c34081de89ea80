// SPDX-License-Identifier: Apache-2.0
//
// `thread_local` of Mach-O: each descriptor {thunk, key, offset} of
// __thread_vars is called for its variable's address (<mach-o/loader.h>
// S_THREAD_LOCAL_VARIABLES, dyld threadLocalVariables.c).
#ifndef MACH_HOST_THREAD_VARIABLES_H_
#define MACH_HOST_THREAD_VARIABLES_H_

#include "image.h"

namespace mach_host {

// Points every descriptor of the image at the host. Before Image::Protect.
void PrepareThreadVariables(const Image& image);

}  // namespace mach_host

#endif  // MACH_HOST_THREAD_VARIABLES_H_
