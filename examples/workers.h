// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait for work, so that a report has other threads to show.
#ifndef CAIRN_EXAMPLES_WORKERS_H_
#define CAIRN_EXAMPLES_WORKERS_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sample {

// Starts one named thread per name; the destructor ends them all.
class Workers {
 public:
  explicit Workers(const std::vector<std::string>& names);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  void WaitForWork(const std::string& name);

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t waiting_ = 0;
  bool done_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sample

#endif  // CAIRN_EXAMPLES_WORKERS_H_
