// SPDX-License-Identifier: Apache-2.0
//
// How long the server asked this machine to keep quiet, kept in a file of the
// report directory so that the next launch knows.
#ifndef CAIRN_UPLOAD_PAUSE_H_
#define CAIRN_UPLOAD_PAUSE_H_

#include <cstdint>

#include "upload/directory.h"

namespace cairn::upload {

// Seconds still to wait. 0 when there is no pause, when it is over, and when it
// ends later than any server can ask for: then the clock has been set back.
int64_t PauseLeft(const Directory& directory, int64_t now_unix_seconds);

void SetPause(const Directory& directory,
              int64_t now_unix_seconds,
              int64_t seconds);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_PAUSE_H_
