// SPDX-License-Identifier: Apache-2.0
//
// Who shows which token. Any thread.
#ifndef CAIRN_SERVER_AUTH_H_
#define CAIRN_SERVER_AUTH_H_

#include <string>
#include <string_view>

namespace cairn::server {

// Takes the same time wherever two texts of one length differ.
bool SameSecret(std::string_view one, std::string_view other);
// `header` is "Bearer TOKEN"; the word in any case.
bool HasBearer(std::string_view header, std::string_view token);
// `header` is "Basic …" with the token as password, any user; what a browser
// sends after asking.
bool HasPassword(std::string_view header, std::string_view token);

}  // namespace cairn::server

#endif  // CAIRN_SERVER_AUTH_H_
