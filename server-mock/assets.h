// SPDX-License-Identifier: Apache-2.0
//
// The web viewer's files, built into this program.
#ifndef CAIRN_SERVER_ASSETS_H_
#define CAIRN_SERVER_ASSETS_H_

#include <span>
#include <string_view>

namespace cairn::server {

struct Asset {
  std::string_view path;  // "/assets/index-ab12.js"
  std::string_view type;  // of the content
  std::string_view bytes;
};

// Static storage; "/index.html" is the page of every address of the viewer.
std::span<const Asset> Assets();

}  // namespace cairn::server

#endif  // CAIRN_SERVER_ASSETS_H_
