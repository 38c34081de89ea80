// SPDX-License-Identifier: Apache-2.0
//
// A server without the viewer, where it could not be built.
#include "assets.h"

namespace cairn::server {

std::span<const Asset> Assets() {
  return {};
}

}  // namespace cairn::server
