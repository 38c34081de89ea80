// SPDX-License-Identifier: Apache-2.0
//
// Which names a request may call this server by. A page of a foreign site can
// give its own name an address of this machine (DNS rebinding) and then read
// what answers there as if it were its own; the name in the request tells.
#ifndef CAIRN_SERVER_HOST_CHECK_H_
#define CAIRN_SERVER_HOST_CHECK_H_

#include <string_view>

#include "options.h"

namespace cairn::server {

// Whether `header`, a request's Host, names this server: localhost, an address
// of loopback, the host of --listen, one of --allow-host; with any port, in any
// case. Any thread.
bool NamesThisServer(std::string_view header, const Options& options);

}  // namespace cairn::server

#endif  // CAIRN_SERVER_HOST_CHECK_H_
