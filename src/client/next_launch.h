// SPDX-License-Identifier: Apache-2.0
//
// What is done, in the background, with reports of earlier runs: names, then
// upload.
//
// Ordinary code; called under the lock of install.
#ifndef CAIRN_CLIENT_NEXT_LAUNCH_H_
#define CAIRN_CLIENT_NEXT_LAUNCH_H_

#include "client/config.h"

namespace cairn::client {

// Starts a thread if there is something to do; otherwise costs one look at the
// directory.
void StartNextLaunch(const Config& config);

// Waits for the thread for at most five seconds, then asks it to end.
void StopNextLaunch();

}  // namespace cairn::client

#endif  // CAIRN_CLIENT_NEXT_LAUNCH_H_
