// SPDX-License-Identifier: Apache-2.0
#include "client/next_launch.h"

namespace cairn::client {

void StartNextLaunch(const Config& /*config*/) {}

void StopNextLaunch() {}

}  // namespace cairn::client
