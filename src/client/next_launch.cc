// SPDX-License-Identifier: Apache-2.0
#include "client/next_launch.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "client/thread_name.h"
#include "upload/next_launch.h"

namespace cairn::client {
namespace {

constexpr std::chrono::seconds kStopLimit{5};
constexpr size_t kThreadStackBytes = 1 << 20;

// Shared by the thread and by whoever asks it to end: either may be gone first.
struct Work {
  upload::NextLaunchOptions options;
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable done;
  bool names = true;
  bool ended = false;
};

std::shared_ptr<Work> g_work;
pid_t g_process = 0;

// Names are left to the server.
void SendOnly(const Work& work) noexcept {
  try {
    upload::UploadAll(work.options.upload, &work.stop);
  } catch (...) {
    // Kept for the next launch.
  }
}

void* RunWork(void* given) {
  const std::unique_ptr<std::shared_ptr<Work>> own(
      static_cast<std::shared_ptr<Work>*>(given));
  NameThread("cairn-upload");
  const std::shared_ptr<Work> work = *own;
  if (work->names) {
    upload::ProcessFinishedReports(work->options, &work->stop);
  } else {
    SendOnly(*work);
  }
  const std::lock_guard lock(work->mutex);
  work->ended = true;
  work->done.notify_all();
  return nullptr;
}

// A thread that takes none of the app's signals and does not keep it from
// ending.
bool StartThread(const std::shared_ptr<Work>& work) {
  auto given = std::make_unique<std::shared_ptr<Work>>(work);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kThreadStackBytes);
  sigset_t all;
  sigset_t former;
  sigfillset(&all);
  for (const int fault :
       {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT}) {
    sigdelset(&all, fault);
  }
  pthread_sigmask(SIG_SETMASK, &all, &former);
  pthread_t thread;
  const bool started =
      pthread_create(&thread, &attributes, &RunWork, given.get()) == 0;
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  pthread_attr_destroy(&attributes);
  if (started) {
    given.release();  // the thread's now
  }
  return started;
}

}  // namespace

void StartNextLaunch(const Config& config) {
  if (!config.symbolicate && config.upload_url.empty()) {
    return;
  }
  auto work = std::make_shared<Work>();
  work->options.upload.directory = config.directory;
  work->options.upload.url = config.upload_url;
  work->options.upload.token = config.upload_token;
  work->options.upload.keep_unsent = config.max_unsent_reports;
  work->names = config.symbolicate;
  if (StartThread(work)) {
    g_work = work;
    g_process = getpid();
  }
}

void StopNextLaunch() {
  const std::shared_ptr<Work> work = std::move(g_work);
  g_work = nullptr;
  // A forked child has the work but not the thread.
  if (work == nullptr || g_process != getpid()) {
    return;
  }
  // What runs may finish: a short-lived program gets its report out. Behind the
  // limit it is asked to end, within one request.
  std::unique_lock lock(work->mutex);
  work->done.wait_for(lock, kStopLimit, [&work] { return work->ended; });
  work->stop = true;
}

}  // namespace cairn::client
