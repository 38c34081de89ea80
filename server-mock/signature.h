// SPDX-License-Identifier: Apache-2.0
//
// What groups reports into issues: the innermost frames that say where it
// happened, by function, or by module and offset where there is no name.
//
// Any thread. Pure: the same report has the same signature for one version.
#ifndef CAIRN_SERVER_SIGNATURE_H_
#define CAIRN_SERVER_SIGNATURE_H_

#include <cstdint>
#include <string>

#include "report/report.h"

namespace cairn::server {

// Raised with every change of what Signature returns. Issues remember theirs,
// so that nothing is grouped anew without being asked for.
inline constexpr int64_t kSignatureVersion = 2;
inline constexpr size_t kMaxSignatureBytes = 1024;

// Tokens joined by " | ", innermost first:
// - only the crashed thread counts (the first one, if none is marked);
// - frames found by a scan count only where no other says where it happened;
// - how a program ends (abort, raise, assert, throw, panic, and a handler that
//   raises again) is left out, what it was doing is not;
// - functions that fail for others' faults (memcpy, free, std::) are shown but
//   do not use up one of the three places;
// - direct recursion counts once; a stack overflow has the functions of its
//   cycle, since where it ends is luck;
// - an uncaught exception's type, and a kind other than crash, stand before.
std::string Signature(const report::Report& report);

}  // namespace cairn::server

#endif  // CAIRN_SERVER_SIGNATURE_H_
