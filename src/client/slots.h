// SPDX-License-Identifier: Apache-2.0
//
// What install prepares on every system: limits, the report directory, and the
// slots in it.
//
// Ordinary code, under install's lock.
#ifndef CAIRN_CLIENT_SLOTS_H_
#define CAIRN_CLIENT_SLOTS_H_

#include "client/config.h"
#include "handlers/crash_base.h"

namespace cairn::client {

void FillLimits(const Config& config, handlers::CrashBase* state);

// Opens the directory and remembers which it is. `path` has room for
// writer::kMaxDirectoryBytes + 1 and lives as long as the install.
cairn_status OpenDirectory(const Config& config,
                           char* path,
                           handlers::CrashBase* state);

// Makes the slots; facts and images, which are there by then, go into the
// first.
cairn_status MakeSlots(const Config& config, handlers::CrashBase* state);

// Removes unused slots and closes the directory. Reports stay.
void RemoveSlots(handlers::CrashBase* state);

}  // namespace cairn::client

#endif  // CAIRN_CLIENT_SLOTS_H_
