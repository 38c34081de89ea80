// SPDX-License-Identifier: Apache-2.0
//
// What is known of app, host and process at install, as the records that begin
// every report of this run.
#ifndef CAIRN_CLIENT_FACTS_H_
#define CAIRN_CLIENT_FACTS_H_

#include <string>
#include <string_view>

#include "client/config.h"
#include "handlers/crash_base.h"

namespace cairn::client {

// Fills `state->prefix`, `installer` and `start_monotonic_ns`. Strings that are
// too long are cut. At most 64 arguments of 256 bytes; a cut record tells the
// rest.
void GatherFacts(const Config& config, handlers::CrashBase* state);

// The parts of it that every system has. Empty strings are left out.
void Put(writer::RecordWriter* records,
         format::Field field,
         std::string_view text);
void PutApp(writer::RecordWriter* records, const Config& config);
// `line`: arguments, each with its NUL.
void PutArguments(writer::RecordWriter* records, const std::string& line);

}  // namespace cairn::client

#endif  // CAIRN_CLIENT_FACTS_H_
