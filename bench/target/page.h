// SPDX-License-Identifier: Apache-2.0
//
// What a benchmark and the program it measures tell each other: one shared page
// file, inherited by descriptor. The benchmark fills the request before the
// start; the target fills the answer, the time of the fault last.
#ifndef CAIRN_BENCH_TARGET_PAGE_H_
#define CAIRN_BENCH_TARGET_PAGE_H_

#include <cstdint>
#include <ctime>

namespace cairn::bench {

struct Request {
  uint32_t threads;         // in all, the main thread among them
  uint32_t frames;          // how deep each is when it parks, or faults
  uint32_t libraries;       // loaded besides, lib0.so, lib1.so, …
  uint32_t core;            // 1: RLIMIT_CORE unlimited, else 0
  uint32_t no_stack_bytes;  // 1: the report keeps no bytes of any stack
  uint32_t crash;           // 1: write to address 0x18 at the end; else exit
  char directory[512];      // working directory, and where reports go
  char library_directory[512];
};

struct Answer {
  uint64_t install_begin_ns, install_end_ns;
  uint64_t resident_before, resident_after;  // bytes, /proc/self/smaps_rollup
  uint64_t fault_ns;  // CLOCK_MONOTONIC just before the fault; 0: none yet
  char failure[256];  // "": all that was asked for was there
};

struct Page {
  Request request;
  Answer answer;
};

inline uint64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace cairn::bench

#endif  // CAIRN_BENCH_TARGET_PAGE_H_
