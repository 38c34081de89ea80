// SPDX-License-Identifier: Apache-2.0
#include "workers.h"

#include <pthread.h>

namespace sample {

Workers::Workers(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    threads_.emplace_back([this, name] { WaitForWork(name); });
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return waiting_ == names.size(); });
}

Workers::~Workers() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Workers::WaitForWork(const std::string& name) {
  // At most 15 bytes; longer names are refused.
  pthread_setname_np(pthread_self(), name.c_str());
  std::unique_lock<std::mutex> lock(mutex_);
  ++waiting_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return done_; });
}

}  // namespace sample
