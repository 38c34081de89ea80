// SPDX-License-Identifier: Apache-2.0
//
// Keeps the image table, and the images in the armed slot, up to date while the
// program loads and unloads libraries.
//
// Ordinary code, any thread. Never waits: when another thread is at it already
// the call returns, and the crash itself looks once more.
#ifndef CAIRN_INTERPOSE_IMAGE_WATCH_H_
#define CAIRN_INTERPOSE_IMAGE_WATCH_H_

#include "handlers/crash_state.h"

namespace cairn::interpose {

void UpdateImages(handlers::CrashState* state);

}  // namespace cairn::interpose

#endif  // CAIRN_INTERPOSE_IMAGE_WATCH_H_
