// SPDX-License-Identifier: Apache-2.0
#include "client/last_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <string>

namespace cairn::client {
namespace {

std::atomic<cairn_last_run_kind> g_last_run{CAIRN_LAST_RUN_UNKNOWN};

bool EndsWith(const char* name, const char* suffix) {
  const size_t length = std::strlen(name);
  const size_t suffix_length = std::strlen(suffix);
  return length > suffix_length &&
         std::strcmp(name + length - suffix_length, suffix) == 0;
}

bool IsNewer(const timespec& left, const timespec& right) {
  return left.tv_sec != right.tv_sec ? left.tv_sec > right.tv_sec
                                     : left.tv_nsec > right.tv_nsec;
}

}  // namespace

bool NoteRun(const std::string& directory) {
  const int marker = openat(AT_FDCWD,
                            (directory + "/last-install").c_str(),
                            O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                            0600);
  struct stat former = {};
  const bool first =
      marker < 0 || fstat(marker, &former) != 0 || former.st_size == 0;
  bool crashed = false;
  bool work = false;
  DIR* entries = opendir(directory.c_str());
  while (entries != nullptr) {
    const dirent* entry = readdir(entries);
    if (entry == nullptr) {
      break;
    }
    const bool report = EndsWith(entry->d_name, ".cairn");
    if (!report && !EndsWith(entry->d_name, ".slot")) {
      continue;
    }
    work = true;
    struct stat facts;
    if (report &&
        fstatat(dirfd(entries), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) ==
            0) {
      crashed = crashed || first || IsNewer(facts.st_mtim, former.st_mtim);
    }
  }
  if (entries != nullptr) {
    closedir(entries);
  }
  g_last_run = crashed
                   ? CAIRN_LAST_RUN_CRASHED
                   : (first ? CAIRN_LAST_RUN_UNKNOWN : CAIRN_LAST_RUN_NO_CRASH);
  if (marker >= 0) {
    // One byte tells the first run from the later ones; its time is that of
    // this run.
    if (pwrite(marker, "1", 1, 0) == 1) {
      futimens(marker, nullptr);
    }
    close(marker);
  }
  return work;
}

}  // namespace cairn::client

extern "C" cairn_last_run_kind cairn_last_run(void) {
  return cairn::client::g_last_run;
}
