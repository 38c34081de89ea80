// SPDX-License-Identifier: Apache-2.0
//
// Crashes in hostile surroundings. Each entry carries the number of the
// condition that it shows; tests/crash/conditions.txt has them all.
//
// V(number, name, crash, options, others, flags)
//   crash    a case of crash_list.h
//   options  of the crasher, see crasher_options.h
//   others   how the other threads are held
//   flags    Hostile…
#ifndef CAIRN_TESTS_CRASH_HOSTILE_LIST_H_
#define CAIRN_TESTS_CRASH_HOSTILE_LIST_H_

#include "format/report_format.h"

namespace cairn::crash {

enum HostileFlags : unsigned {
  kPlain = 0,
  kNoNames = 1,       // names of threads cannot be read here
  kCoreExpected = 2,  // a core dump is left
  kNoCore = 4,        // none is, though RLIMIT_CORE would allow it
  kNoUser = 8,        // needs root to be made: no permission is tested
};

// Another user without a capability: root would pass permissions for nothing.
#define CAIRN_USER "user=65534 core=0 "
#define CAIRN_USER_WITH_CORE "user=65534 core=unlimited "

// clang-format off
#define CAIRN_HOSTILE_LIST(V)                                                  \
  V("2.5.a", PtraceRefusedAsByYama, in_thread, CAIRN_USER "deny=ptrace",       \
    kSignal, kPlain)                                                           \
  V("2.5.b", NotDumpable, in_thread, CAIRN_USER_WITH_CORE "dumpable=0",        \
    kPtrace, kNoCore)                                                          \
  V("2.5.c", NotDumpableAndPrctlRefused, in_thread,                            \
    CAIRN_USER "dumpable=0 deny=prctl", kSignal, kPlain)                       \
  V("2.5.d", CloneRefused, in_thread, CAIRN_USER "deny=clone",                 \
    kSignal, kPlain)                                                           \
  V("2.5.e", PtraceKills, in_thread, CAIRN_USER "kill=ptrace",                 \
    kSignal, kPlain)                                                           \
  V("2.5.f", NoProc, in_thread, "root=empty core=0",                           \
    kPtrace, kNoNames | kNoUser)                                               \
  V("2.5.g", NoProcAndPtraceRefused, in_thread,                                \
    "root=empty core=0 deny=ptrace", kSignal, kNoUser)                         \
  V("2.5.h", OpenRefused, in_thread, CAIRN_USER "deny=openat",                 \
    kPtrace, kNoNames)                                                         \
  V("2.5.i", OpenAndPtraceRefused, in_thread,                                  \
    CAIRN_USER "deny=openat,ptrace", kSignal, kPlain)                          \
  V("2.5.j", ProcessVmReadvRefused, in_thread,                                 \
    CAIRN_USER "deny=process_vm_readv", kPtrace, kPlain)                       \
  V("2.5.k", TracedByAnother, in_thread, CAIRN_USER "traced=1",                \
    kSignal, kPlain)                                                           \
  V("2.5.l", NoProcessMore, null_write, CAIRN_USER "nproc=0",                   \
    kSignal, kPlain)                                                           \
  V("2.5.m", NoAddressSpace, in_thread, CAIRN_USER "as=now",                   \
    kPtrace, kPlain)                                                           \
  V("2.5.n", FileSizeLimitZero, in_thread, CAIRN_USER "fsize=0",               \
    kPtrace, kPlain)                                                           \
  V("2.5.o", NoDescriptorLeft, stack_overflow,                                 \
    CAIRN_USER "descriptors=used", kPtrace, kPlain)                            \
  V("2.5.p", QueuedSignalsRefused, in_thread,                                  \
    CAIRN_USER "deny=ptrace,rt_tgsigqueueinfo", kSignal, kPlain)               \
  V("2.5.q", CoreLimitWhole, in_thread, CAIRN_USER_WITH_CORE,                  \
    kPtrace, kCoreExpected)                                                    \
  V("2.9.a", EverySignalBlocked, in_thread,                                    \
    CAIRN_USER "deny=ptrace blocked=2", kSignal, kPlain)                       \
  V("2.9.b", WaitRefused, in_thread, CAIRN_USER "deny=wait4",                  \
    kPtrace, kPlain)                                                             \
  V("2.9.c", WaitingInVfork, in_thread, CAIRN_USER "vfork=1",                  \
    kPtrace, kPlain)                                                           \
  V("2.9.d", HundredThreadsBySignals, many_threads, CAIRN_USER "deny=ptrace",  \
    kSignal, kPlain)                                                           \
  V("2.9.e", SmallStacksBySignals, in_thread,                                  \
    CAIRN_USER "deny=ptrace threads=20 threads_stack=16384", kSignal, kPlain)
// clang-format on

struct Hostile {
  const char* number;
  const char* name;
  const char* crash;
  const char* options;
  format::FrozenBy others;
  unsigned flags;
};

#define CAIRN_V(number, name, crash, options, others, flags) \
  {number, #name, #crash, options, format::FrozenBy::others, flags},
inline constexpr Hostile kHostile[] = {CAIRN_HOSTILE_LIST(CAIRN_V)};
#undef CAIRN_V

}  // namespace cairn::crash

#endif  // CAIRN_TESTS_CRASH_HOSTILE_LIST_H_
