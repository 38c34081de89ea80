// SPDX-License-Identifier: Apache-2.0
//
// Ordinary code, about the calling thread.
#ifndef CAIRN_CLIENT_THREAD_NAME_H_
#define CAIRN_CLIENT_THREAD_NAME_H_

namespace cairn::client {

// At most 15 bytes on every system; a name that is refused is left out.
void NameThread(const char* name);

}  // namespace cairn::client

#endif  // CAIRN_CLIENT_THREAD_NAME_H_
