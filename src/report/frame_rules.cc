// SPDX-License-Identifier: Apache-2.0
//
// The lists, each sorted. A name with a star matches by its beginning.
#include "report/frame_rules.h"

#include <algorithm>
#include <span>

namespace cairn::report {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kEndings[] = {
    "-[NSException raise]",
    "_Unwind_*",
    "__GI_abort",
    "__GI_raise",
    "___stack_chk_fail",
    "__abort",
    "__android_log_assert",
    "__assert*",
    "__chk_fail",
    "__clang_call_terminate",
    "__cxa_*",
    "__cxxabiv1::*",
    "__fortify_fail*",
    "__gcc_personality_*",
    "__glibcxx_assert_fail",
    "__gnu_cxx::__verbose_terminate_handler",
    "__gnu_debug::*",
    "__gxx_personality_*",
    "__kill",
    "__libc_assert_fail",
    "__libc_fatal",
    "__libc_message*",
    "__malloc_assert",
    "__pthread_kill",
    "__pthread_kill_implementation",
    "__pthread_kill_internal",
    "__rust_start_panic",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "__tgkill",
    "_objc_terminate",
    "_purecall",
    "abort",
    "abort_message",
    "cairn::capture::*",
    "cairn::client::*",
    "cairn::handlers::*",
    "cairn::interpose::*",
    "cairn::safe::*",
    "cairn::writer::*",
    "cairn_capture",
    "core::panicking::*",
    "demangling_terminate_handler",
    "g_abort",
    "g_assertion_message*",
    "gsignal",
    "kill",
    "malloc_printerr",
    "objc_exception_throw",
    "pthread_kill",
    "raise",
    "rust_begin_unwind",
    "rust_panic",
    "std::__glibcxx_assert_fail",
    "std::__libcpp_verbose_abort",
    "std::__replacement_assert",
    "std::__terminate",
    "std::__throw_*",
    "std::abort",
    "std::panicking::*",
    "std::rethrow_exception",
    "std::terminate",
    "std::unexpected",
    "terminate",
    "tgkill",
};

constexpr std::string_view kHelpers[] = {
    "_IO_*",
    "__GI___*",
    "__clock_nanosleep*",
    "__futex_*",
    "__gnu_cxx::*",
    "__libc_calloc",
    "__libc_free",
    "__libc_malloc",
    "__libc_realloc",
    "__mem*",
    "__poll",
    "__printf*",
    "__pthread_*",
    "__read",
    "__select",
    "__str*",
    "__vfprintf*",
    "__vsnprintf*",
    "__wmem*",
    "__write",
    "_int_free",
    "_int_malloc",
    "_int_realloc",
    "_platform_mem*",
    "_platform_str*",
    "alloc::alloc::*",
    "calloc",
    "cfree",
    "core::option::*",
    "core::ptr::*",
    "core::result::*",
    "core::slice::*",
    "core::str::*",
    "epoll_wait",
    "fprintf",
    "free",
    "malloc",
    "malloc_consolidate",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "objc_msgSend",
    "objc_release",
    "objc_retain",
    "operator delete*",
    "operator new*",
    "poll",
    "printf",
    "pthread_*",
    "ptmalloc_init",
    "puts",
    "realloc",
    "snprintf",
    "sprintf",
    "std::*",
    "strcasecmp",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strdup",
    "strlen",
    "strncmp",
    "strncpy",
    "strnlen",
    "strrchr",
    "strstr",
    "strtol",
    "strtoul",
    "syscall",
    "unlink_chunk",
    "vfprintf",
    "vsnprintf",
    "wcscmp",
    "wcscpy",
    "wcslen",
};

constexpr std::string_view kTrampolines[] = {
    "__kernel_rt_sigreturn",
    "__restore",
    "__restore_rt",
    "_sigtramp",
    "restore_rt",
};

constexpr std::string_view kBases[] = {
    "__clone",
    "__clone3",
    "__libc_start_call_main",
    "__libc_start_main",
    "__libc_start_main_impl",
    "_pthread_start",
    "_start",
    "clone",
    "clone3",
    "start",
    "start_thread",
    "thread_start",
};

constexpr std::string_view kSystemModules[] = {
    "[vdso]",     "ld-linux*",       "ld-musl*",       "ld.so*",
    "libSystem*", "libc++*",         "libc++abi*",     "libc-2.*",
    "libc.*",     "libdl.*",         "libdyld.dylib",  "libgcc_s*",
    "libm.*",     "libobjc.A.dylib", "libpthread*",    "librt.*",
    "libstdc++*", "libsystem_*",     "linux-gate.so*", "linux-vdso*",
};

constexpr std::string_view kReporterModules[] = {
    "libcairn-preload.so*",
    "libcairn.*",
};

bool Matches(Names names, std::string_view text) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return name.ends_with('*')
               ? text.starts_with(name.substr(0, name.size() - 1))
               : text == name;
  });
}

}  // namespace

FrameRole RoleOf(std::string_view function) {
  if (Matches(kTrampolines, function)) {
    return FrameRole::kTrampoline;
  }
  if (Matches(kEndings, function)) {
    return FrameRole::kEnding;
  }
  if (Matches(kBases, function)) {
    return FrameRole::kBase;
  }
  return Matches(kHelpers, function) ? FrameRole::kHelper : FrameRole::kPlace;
}

bool IsSystemModule(std::string_view module) {
  return Matches(kSystemModules, module);
}

bool IsReporterModule(std::string_view module) {
  return Matches(kReporterModules, module);
}

}  // namespace cairn::report
