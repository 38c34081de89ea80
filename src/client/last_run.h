// SPDX-License-Identifier: Apache-2.0
//
// How the run before this one ended, by the times of reports and of a marker
// file `last-install` in the report directory.
#ifndef CAIRN_CLIENT_LAST_RUN_H_
#define CAIRN_CLIENT_LAST_RUN_H_

#include <string>

#include "cairn/cairn.h"

namespace cairn::client {

// Called once, at install, before new slots are made. Remembers the answer for
// cairn_last_run, notes this run, and returns whether any report or slot of an
// earlier run is there to be looked at.
bool NoteRun(const std::string& directory);

}  // namespace cairn::client

#endif  // CAIRN_CLIENT_LAST_RUN_H_
