// SPDX-License-Identifier: Apache-2.0
//
// The one list of crashes. It drives the crasher program (a function
// `crash_NAME` each) and the test that reads the reports.
//
// V(name, signal, code, fault_kind, flags)
//   signal      how the process must end
//   code        si_code, or kAnyCode
//   fault_kind  as in the report's JSON, "" where there is none
//   flags       Needs…, see CaseFlags
#ifndef CAIRN_TESTS_CRASH_CRASH_LIST_H_
#define CAIRN_TESTS_CRASH_CRASH_LIST_H_

#include <signal.h>

namespace cairn::crash {

inline constexpr int kAnyCode = -1000;

enum CaseFlags : unsigned {
  kNone = 0,
  kWrongCode = 1,       // frame 0 is not in a function of the crasher: a bad pc
  kOtherThread = 2,     // another thread than main crashes
  kFaultAddress = 4,    // the child says which address it will touch
  kException = 8,       // a C++ exception's type and message are expected
  kAbortMessage = 16,   // the runtime's own words are expected
  kUnwound = 32,        // the stack is gone down to a noexcept function
  kDeep = 64,           // more frames than are kept
  kChild = 128,         // a forked child crashes; the parent ends normally
  kSurvives = 256,      // an earlier handler mends it; exit 0
  kManyThreads = 512,   // a hundred parked threads
  kSeveral = 1024,      // more than one thread crashes
  kNoThreads = 2048,    // the others cannot be had here
  kSent = 4096,         // sent by a process: the sender is told
  kNoBacktrace = 8192,  // the child cannot say its stack
  kOverflow = 16384,    // the stack is used up
};

#define CAIRN_CRASH_LIST(V)                                                   \
  V(null_read, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)              \
  V(null_write, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)             \
  V(null_call, SIGSEGV, SEGV_MAPERR, "null_page", kWrongCode | kFaultAddress) \
  V(unmapped_read, SIGSEGV, SEGV_MAPERR, "unmapped", kFaultAddress)           \
  V(read_only_write, SIGSEGV, SEGV_ACCERR, "protected", kFaultAddress)        \
  V(register_memory, SIGSEGV, SEGV_ACCERR, "protected", kFaultAddress)        \
  V(memory_never_comes, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)     \
  V(unmapped_call,                                                            \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "unmapped",                                                               \
    kWrongCode | kFaultAddress)                                               \
  V(data_call,                                                                \
    SIGSEGV,                                                                  \
    SEGV_ACCERR,                                                              \
    "not_executable",                                                         \
    kWrongCode | kFaultAddress)                                               \
  V(non_canonical_read, SIGSEGV, SI_KERNEL, "non_canonical", kFaultAddress)   \
  V(non_canonical_write, SIGSEGV, SI_KERNEL, "non_canonical", kFaultAddress)  \
  V(non_canonical_index, SIGSEGV, SI_KERNEL, "non_canonical", kFaultAddress)  \
  V(non_canonical_string, SIGSEGV, SI_KERNEL, "non_canonical", kFaultAddress) \
  V(non_canonical_thread_local,                                               \
    SIGSEGV,                                                                  \
    SI_KERNEL,                                                                \
    "non_canonical",                                                          \
    kFaultAddress)                                                            \
  V(non_canonical_call, SIGSEGV, SI_KERNEL, "non_canonical", kFaultAddress)   \
  V(non_canonical_return,                                                     \
    SIGSEGV,                                                                  \
    SI_KERNEL,                                                                \
    "non_canonical",                                                          \
    kFaultAddress | kNoBacktrace)                                             \
  V(misaligned_vector, SIGSEGV, SI_KERNEL, "misaligned", kFaultAddress)       \
  V(privileged_instruction, SIGSEGV, SI_KERNEL, "", kNone)                    \
  V(illegal_instruction, SIGILL, ILL_ILLOPN, "", kNone)                       \
  V(breakpoint, SIGTRAP, SI_KERNEL, "", kNone)                                \
  V(divide_by_zero, SIGFPE, FPE_INTDIV, "", kNone)                            \
  V(truncated_mapping, SIGBUS, BUS_ADRERR, "unmapped", kFaultAddress)         \
  V(bad_system_call, SIGSYS, kAnyCode, "", kNone)                             \
  V(abort, SIGABRT, SI_TKILL, "", kNone)                                      \
  V(assert, SIGABRT, SI_TKILL, "", kAbortMessage)                             \
  V(uncaught_exception, SIGABRT, SI_TKILL, "", kException)                    \
  V(uncaught_int, SIGABRT, SI_TKILL, "", kException)                          \
  V(noexcept_exception,                                                       \
    SIGABRT,                                                                  \
    SI_TKILL,                                                                 \
    "",                                                                       \
    kException | kUnwound | kNoBacktrace)                                     \
  V(pure_virtual, SIGABRT, SI_TKILL, "", kNone)                               \
  V(double_free, SIGABRT, SI_TKILL, "", kAbortMessage)                        \
  V(stack_protector, SIGABRT, SI_TKILL, "", kAbortMessage)                    \
  V(raise_segv, SIGSEGV, SI_TKILL, "", kSent)                                 \
  V(kill_self, SIGILL, SI_USER, "", kSent)                                    \
  V(killed_from_outside, SIGSEGV, SI_USER, "", kSent | kNoBacktrace)          \
  V(in_thread,                                                                \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kOtherThread | kFaultAddress)                                             \
  V(in_older_thread,                                                          \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kOtherThread | kFaultAddress)                                             \
  V(many_threads,                                                             \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kManyThreads | kFaultAddress)                                             \
  V(stack_overflow,                                                           \
    SIGSEGV,                                                                  \
    kAnyCode,                                                                 \
    "stack_guard",                                                            \
    kDeep | kNoBacktrace | kOverflow)                                         \
  V(thread_overflow,                                                          \
    SIGSEGV,                                                                  \
    kAnyCode,                                                                 \
    "stack_guard",                                                            \
    kOtherThread | kDeep | kNoBacktrace | kOverflow)                          \
  V(older_thread_overflow,                                                    \
    SIGSEGV,                                                                  \
    kAnyCode,                                                                 \
    "stack_guard",                                                            \
    kOtherThread | kDeep | kNoBacktrace | kOverflow)                          \
  V(deep_recursion,                                                           \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kDeep | kNoBacktrace | kFaultAddress)                                     \
  V(two_at_once,                                                              \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kOtherThread | kSeveral | kNoBacktrace)                                   \
  V(twenty_at_once,                                                           \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kOtherThread | kSeveral | kNoBacktrace)                                   \
  V(hundred_at_once,                                                          \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kOtherThread | kSeveral | kNoBacktrace)                                   \
  V(in_signal_handler, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)      \
  V(in_forked_child,                                                          \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kChild | kFaultAddress)                                                   \
  V(earlier_handler_mends,                                                    \
    SIGSEGV,                                                                  \
    SEGV_ACCERR,                                                              \
    "protected",                                                              \
    kSurvives | kFaultAddress)                                                \
  V(earlier_handler_raises_blocked, SIGABRT, SI_TKILL, "", kNone)             \
  V(earlier_handler_leaves_it,                                                \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kFaultAddress)                                                            \
  V(earlier_handler_dies, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)   \
  V(handler_replaced, SIGABRT, SI_TKILL, "", kNone)                           \
  V(holding_malloc_lock,                                                      \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kFaultAddress | kNoBacktrace)                                             \
  V(holding_loader_lock,                                                      \
    SIGSEGV,                                                                  \
    SEGV_MAPERR,                                                              \
    "null_page",                                                              \
    kFaultAddress | kNoBacktrace)                                             \
  V(no_descriptors, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)         \
  V(all_descriptors_closed, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress) \
  V(not_dumpable, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)           \
  V(heap_destroyed, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)         \
  V(callback_crashes, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)       \
  V(in_static_destructor, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)   \
  V(fs_base_destroyed, SIGSEGV, SEGV_MAPERR, "null_page", kFaultAddress)

struct Case {
  const char* name;
  int signal;
  int code;
  const char* fault_kind;
  unsigned flags;
};

#define CAIRN_V(name, signal, code, kind, flags) \
  {#name, signal, code, kind, flags},
inline constexpr Case kCases[] = {CAIRN_CRASH_LIST(CAIRN_V)};
#undef CAIRN_V

}  // namespace cairn::crash

#endif  // CAIRN_TESTS_CRASH_CRASH_LIST_H_
