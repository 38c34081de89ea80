// SPDX-License-Identifier: Apache-2.0
//
// The C++ exception that nobody caught: kept for the report of the abort that
// follows.
#ifndef CAIRN_CLIENT_TERMINATE_H_
#define CAIRN_CLIENT_TERMINATE_H_

namespace cairn::client {

// Takes the terminate handler's place; the former one is called behind ours.
void InstallTerminateHook();
// Puts the former one back if ours still stands.
void RemoveTerminateHook();

}  // namespace cairn::client

#endif  // CAIRN_CLIENT_TERMINATE_H_
