// SPDX-License-Identifier: Apache-2.0
#include "client/thread_name.h"

#include <pthread.h>

namespace cairn::client {

void NameThread(const char* name) {
  pthread_setname_np(pthread_self(), name);
}

}  // namespace cairn::client
