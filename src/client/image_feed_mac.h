// SPDX-License-Identifier: Apache-2.0
//
// Feeds the image table from dyld's own callbacks, so that a crash never asks
// dyld: a frozen thread may hold its lock.
//
// Ordinary code. dyld cannot be told to stop calling; behind StopImageFeed its
// calls do nothing, and the code is never unloaded.
#ifndef CAIRN_CLIENT_IMAGE_FEED_MAC_H_
#define CAIRN_CLIENT_IMAGE_FEED_MAC_H_

#include "capture/image_table.h"

namespace cairn::client {

// Adds every image of the process, dyld itself too, and keeps `table` up to
// date from now on. No lock is held while dyld replays what is loaded.
void StartImageFeed(capture::ImageTable* table);
void StopImageFeed();

}  // namespace cairn::client

#endif  // CAIRN_CLIENT_IMAGE_FEED_MAC_H_
