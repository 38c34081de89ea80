// SPDX-License-Identifier: Apache-2.0
//
// Raw Linux system calls: no libc, no errno, no cancellation point, no wrapper
// that another library may have replaced.
//
// Crash time: yes. Any thread. Each returns what the kernel returned: a value,
// or −errno. Numbers and structures are those of the kernel's own headers.
#ifndef CAIRN_SAFE_SYSCALL_LINUX_H_
#define CAIRN_SAFE_SYSCALL_LINUX_H_

#include <cstddef>
#include <cstdint>

#include <sys/syscall.h>

#include "safe/clock.h"

namespace cairn::safe {

#if defined(__x86_64__)
// System V x86-64 psABI, appendix A.2.1: rdi rsi rdx r10 r8 r9; rcx and r11
// lost.
inline long SystemCall(long number,
                       long a = 0,
                       long b = 0,
                       long c = 0,
                       long d = 0,
                       long e = 0,
                       long f = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile(
      "syscall"
      : "=a"(result)
      : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
      : "rcx", "r11", "memory");
  return result;
}
#else
#error "add the system call instruction of this architecture"
#endif

template <typename T>
inline long AsLong(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

inline bool IsError(long result) {
  return result < 0 && result > -4096;
}

// struct timespec as the 64-bit calls take it.
struct KernelTimespec {
  int64_t seconds;
  int64_t nanoseconds;
};

inline uint64_t ClockNs(int clock) {
  KernelTimespec now{};
  if (SystemCall(SYS_clock_gettime, clock, AsLong(&now)) != 0) {
    return 0;
  }
  return static_cast<uint64_t>(now.seconds) * 1000000000u +
         static_cast<uint64_t>(now.nanoseconds);
}
// Waits while `*word == value`, until `deadline_ns` on the monotonic clock. The
// futex is not private: it works between processes that share the memory too.
// FUTEX_WAIT_BITSET takes an absolute time (futex(2)).
inline long FutexWaitUntil(const uint32_t* word,
                           uint32_t value,
                           uint64_t deadline_ns) {
  const KernelTimespec until{static_cast<int64_t>(deadline_ns / 1000000000u),
                             static_cast<int64_t>(deadline_ns % 1000000000u)};
  constexpr long kFutexWaitBitset = 9;
  return SystemCall(
      SYS_futex, AsLong(word), kFutexWaitBitset, value, AsLong(&until), 0, -1);
}
inline void FutexWakeAll(const uint32_t* word) {
  constexpr long kFutexWake = 1;
  SystemCall(SYS_futex, AsLong(word), kFutexWake, 0x7fffffff);
}

// An open file that is closed on every path.
class ScopedDescriptor {
 public:
  explicit ScopedDescriptor(long fd) : fd_(fd) {}
  ~ScopedDescriptor() {
    if (fd_ >= 0) {
      SystemCall(SYS_close, fd_);
    }
  }
  ScopedDescriptor(const ScopedDescriptor&) = delete;
  ScopedDescriptor& operator=(const ScopedDescriptor&) = delete;
  long get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  long Release() {
    const long fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  long fd_;
};

}  // namespace cairn::safe

#endif  // CAIRN_SAFE_SYSCALL_LINUX_H_
