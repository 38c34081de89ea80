// SPDX-License-Identifier: Apache-2.0
//
// The program that the benchmarks start, crash and measure:
//
//   target DESCRIPTOR     of the shared Page, which says what to do
//
// The same source is linked with each reporter (reporter_*.cc).
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/target/load.h"
#include "bench/target/page.h"
#include "bench/target/reporter.h"

namespace cairn::bench {
namespace {

// Bytes of "Rss:" in /proc/self/smaps_rollup, 0 when it is not there.
uint64_t ResidentBytes() {
  FILE* file = std::fopen("/proc/self/smaps_rollup", "re");
  char line[256];
  unsigned long long kibibytes = 0;
  while (file != nullptr && std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "Rss: %llu", &kibibytes) == 1) {
      break;
    }
  }
  if (file != nullptr) {
    std::fclose(file);
  }
  return kibibytes * 1024;
}

int Fail(Answer* answer, const char* what) {
  std::snprintf(answer->failure, sizeof(answer->failure), "%s", what);
  return 1;
}

int Run(const Request& request, Answer* answer) {
  const rlim_t core = request.core != 0 ? RLIM_INFINITY : 0;
  const rlimit limit{core, core};
  if (chdir(request.directory) != 0 || setrlimit(RLIMIT_CORE, &limit) != 0) {
    return Fail(answer, "no working directory, or RLIMIT_CORE is refused");
  }
  answer->resident_before = ResidentBytes();
  answer->install_begin_ns = MonotonicNs();
  const char* failure = StartReporter(request);
  answer->install_end_ns = MonotonicNs();
  answer->resident_after = ResidentBytes();
  if (failure == nullptr) {
    failure = LoadLibraries(request);
  }
  if (failure == nullptr) {
    failure = StartThreads(request);
  }
  if (failure != nullptr) {
    return Fail(answer, failure);
  }
  if (request.crash != 0) {
    Fault(request, answer);
  }
  return 0;
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using cairn::bench::Page;
  if (argc != 2) {
    std::fprintf(stderr,
                 "started by the benchmarks only: see bench/README.md\n");
    return 2;
  }
  void* mapped = mmap(nullptr,
                      sizeof(Page),
                      PROT_READ | PROT_WRITE,
                      MAP_SHARED,
                      std::atoi(argv[1]),
                      0);
  if (mapped == MAP_FAILED) {
    return 2;
  }
  auto* page = static_cast<Page*>(mapped);
  const int status = cairn::bench::Run(page->request, &page->answer);
  // Threads are parked for ever: nothing to join.
  return status;
}
