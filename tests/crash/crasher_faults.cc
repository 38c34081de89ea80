// SPDX-License-Identifier: Apache-2.0
//
// Crashes of one thread: bad memory, bad instructions, aborts, exceptions.
#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cxxabi.h>

#include <stdexcept>

#include "tests/crash/crasher.h"

using cairn::crash::ForbidAllocation;
using cairn::crash::Hide;
using cairn::crash::Tell;
using cairn::crash::TellAddress;
using cairn::crash::TellSelf;
using cairn::crash::TellThread;

// Keeps the last call of a crash function from becoming a jump.
#define STAY asm volatile("")

extern "C" {

__attribute__((noinline)) void crash_null_read() {
  TellAddress("fault_address", 0x10);
  TellSelf();
  (void)*Hide(reinterpret_cast<volatile int*>(0x10));
  STAY;
}

__attribute__((noinline)) void crash_null_write() {
  TellAddress("fault_address", 0x8);
  TellSelf();
  *Hide(reinterpret_cast<volatile int*>(0x8)) = 1;
  STAY;
}

__attribute__((noinline)) void crash_null_call() {
  TellAddress("fault_address", 0);
  TellSelf();
  Hide(static_cast<void (*)()>(nullptr))();
  STAY;
}

__attribute__((noinline)) void crash_unmapped_read() {
  char* page = static_cast<char*>(mmap(nullptr,
                                       4096,
                                       PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS,
                                       -1,
                                       0));
  munmap(page, 4096);
  TellAddress("fault_address", reinterpret_cast<uint64_t>(page + 24));
  TellSelf();
  (void)*Hide(reinterpret_cast<volatile int*>(page + 24));
  STAY;
}

__attribute__((noinline)) void crash_read_only_write() {
  char* page = static_cast<char*>(
      mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  TellAddress("fault_address", reinterpret_cast<uint64_t>(page + 100));
  TellSelf();
  *Hide(reinterpret_cast<volatile char*>(page + 100)) = 1;
  STAY;
}

// Tells what the report must show near a register and near the fault.
__attribute__((noinline)) void crash_register_memory() {
  char* page = static_cast<char*>(mmap(nullptr,
                                       4096,
                                       PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS,
                                       -1,
                                       0));
  strcpy(page + 100, "where the fault is");
  mprotect(page, 4096, PROT_READ);
  char* object = strdup("what the object holds");
  TellAddress("fault_address", reinterpret_cast<uint64_t>(page + 100));
  TellAddress("near_fault", reinterpret_cast<uint64_t>(page + 100));
  Tell("text_fault", page + 100);
  TellAddress("near_r12", reinterpret_cast<uint64_t>(object));
  Tell("text_r12", object);
  TellSelf();
  asm volatile("mov %1, %%r12\n\tmovb $1, (%0)"
               :
               : "r"(page + 100), "r"(object)
               : "r12", "memory");
  STAY;
}

// A register points at memory whose pages never come: nobody serves the
// userfaultfd(2).
__attribute__((noinline)) void crash_memory_never_comes() {
  constexpr size_t kBytes = 4096;
  const int fd = static_cast<int>(
      syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
  uffdio_api api{};
  api.api = UFFD_API;
  void* page = mmap(nullptr,
                    kBytes,
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS,
                    -1,
                    0);
  uffdio_register registration{};
  registration.range = {reinterpret_cast<uint64_t>(page), kBytes};
  registration.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (ioctl(fd, UFFDIO_API, &api) != 0 ||
      ioctl(fd, UFFDIO_REGISTER, &registration) != 0) {
    _exit(1);
  }
  TellAddress("fault_address", 0x10);
  Tell("cut", "memory_bytes");
  TellSelf();
  asm volatile("mov %0, %%r12\n\tmovb $1, 0x10"
               :
               : "r"(page)
               : "r12", "memory");
  STAY;
}

__attribute__((noinline)) void crash_unmapped_call() {
  char* page = static_cast<char*>(
      mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(page, 4096);
  TellAddress("fault_address", reinterpret_cast<uint64_t>(page));
  TellSelf();
  Hide(reinterpret_cast<void (*)()>(page))();
  STAY;
}

__attribute__((noinline)) void crash_data_call() {
  static char data[64];
  TellAddress("fault_address", reinterpret_cast<uint64_t>(data));
  TellSelf();
  Hide(reinterpret_cast<void (*)()>(data))();
  STAY;
}

__attribute__((noinline)) void crash_non_canonical_read() {
  TellAddress("fault_address", 0x4141414141414141);
  TellSelf();
  (void)*Hide(reinterpret_cast<volatile int*>(0x4141414141414141));
  STAY;
}

__attribute__((noinline)) void crash_non_canonical_write() {
  TellAddress("fault_address", 0x8000000000000123);
  TellSelf();
  asm volatile("movw $7, 0x23(%0)" : : "r"(0x8000000000000100) : "memory");
}

__attribute__((noinline)) void crash_non_canonical_index() {
  TellAddress("fault_address", 0x0000800000000000 + 8 * 5 - 0x10);
  TellSelf();
  asm volatile("addq $1, -0x10(%0, %1, 8)"
               :
               : "r"(uint64_t{0x0000800000000000}), "r"(uint64_t{5})
               : "memory", "cc");
}

__attribute__((noinline)) void crash_non_canonical_string() {
  static char from[64];
  TellAddress("fault_address", 0xdead000000000000);
  TellSelf();
  uint64_t to = 0xdead000000000000, count = 8;
  const char* source = from;
  asm volatile("rep movsq" : "+D"(to), "+S"(source), "+c"(count) : : "memory");
}

__attribute__((noinline)) void crash_non_canonical_thread_local() {
  uint64_t base = 0;
  syscall(SYS_arch_prctl, 0x1003 /* ARCH_GET_FS */, &base);
  TellAddress("fault_address", base + 0x7000000000000000);
  TellSelf();
  asm volatile("movl %%fs:(%0), %%eax"
               :
               : "r"(uint64_t{0x7000000000000000})
               : "rax", "memory");
}

// Intel refuses the call, AMD the fetch behind it: the address is the same.
__attribute__((noinline)) void crash_non_canonical_call() {
  TellAddress("fault_address", 0x4343434343434343);
  TellSelf();
  asm volatile("call *%0" : : "r"(uint64_t{0x4343434343434343}) : "memory");
}

__attribute__((noinline)) void crash_non_canonical_return() {
  TellAddress("fault_address", 0x4242424242424242);
  TellThread();
  ForbidAllocation();
  asm volatile("movq %0, (%%rsp)\n\tret"
               :
               : "r"(uint64_t{0x4242424242424242})
               : "memory");
}

__attribute__((noinline)) void crash_misaligned_vector() {
  alignas(16) static char bytes[64];
  TellAddress("fault_address", reinterpret_cast<uint64_t>(bytes) + 4);
  TellSelf();
  asm volatile("movaps %%xmm0, (%0)" : : "r"(bytes + 4) : "memory");
}

__attribute__((noinline)) void crash_privileged_instruction() {
  TellSelf();
  asm volatile("hlt");
}

__attribute__((noinline)) void crash_illegal_instruction() {
  TellSelf();
  asm volatile("ud2");
}

__attribute__((noinline)) void crash_breakpoint() {
  TellSelf();
  asm volatile("int3");
}

__attribute__((noinline)) void crash_divide_by_zero() {
  TellSelf();
  volatile int zero = 0;
  volatile int result = Hide(1000) / zero;
  (void)result;
}

__attribute__((noinline)) void crash_truncated_mapping() {
  char path[] = "/tmp/cairn-crasher-XXXXXX";
  const int fd = mkstemp(path);
  unlink(path);
  if (ftruncate(fd, 4096) != 0) {
    _exit(96);
  }
  char* page =
      static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
  if (ftruncate(fd, 0) != 0) {
    _exit(96);
  }
  TellAddress("fault_address", reinterpret_cast<uint64_t>(page + 8));
  TellSelf();
  (void)*Hide(reinterpret_cast<volatile int*>(page + 8));
  STAY;
}

// A seccomp filter that answers getppid with SIGSYS.
__attribute__((noinline)) void crash_bad_system_call() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  TellSelf();
  syscall(SYS_getppid);
  STAY;
}

__attribute__((noinline)) void crash_abort() {
  TellSelf();
  abort();
}

__attribute__((noinline)) void crash_assert() {
  Tell("abort_message", "Assertion `zero == 1' failed");
  TellThread();
  volatile int zero = 0;
  assert(zero == 1);
}

__attribute__((noinline)) void crash_double_free() {
  Tell("abort_message", "free(): double free detected");
  TellThread();
  void* volatile block = malloc(100);
  void* volatile copy = block;
  free(block);
  free(copy);
  STAY;
}

__attribute__((noinline, optimize("stack-protector-all"))) void
crash_stack_protector() {
  Tell("abort_message", "stack smashing detected");
  TellThread();
  char buffer[16];
  memset(Hide(&buffer[0]), 'A', 32);
  asm volatile("" : : "r"(buffer) : "memory");
}

__attribute__((noinline)) void crash_raise_segv() {
  Tell("sender", std::to_string(getpid()));
  TellSelf();
  raise(SIGSEGV);
  STAY;
}

__attribute__((noinline)) void crash_kill_self() {
  Tell("sender", std::to_string(getpid()));
  TellSelf();
  kill(getpid(), SIGILL);
  STAY;
}

__attribute__((noinline)) void crash_killed_from_outside() {
  TellThread();
  Tell("kill_me", std::to_string(getpid()));
  for (;;) {
    pause();
  }
}

}  // extern "C"

namespace {

__attribute__((noinline)) void Throws() {
  throw std::runtime_error("thrown out of noexcept");
}

__attribute__((noinline)) void DoesNotThrow() noexcept {
  Throws();
  STAY;
}

}  // namespace

extern "C" {

__attribute__((noinline)) void crash_pure_virtual() {
  TellThread();
  abi::__cxa_pure_virtual();  // what the vtable holds
  STAY;
}

__attribute__((noinline)) void crash_uncaught_exception() {
  Tell("exception_type", "St13runtime_error");
  Tell("exception_message", "nobody catches this");
  TellThread();
  throw std::runtime_error("nobody catches this");
}

__attribute__((noinline)) void crash_uncaught_int() {
  Tell("exception_type", "i");
  TellThread();
  throw 42;
}

__attribute__((noinline)) void crash_noexcept_exception() {
  Tell("exception_type", "St13runtime_error");
  Tell("exception_message", "thrown out of noexcept");
  TellThread();
  DoesNotThrow();
  STAY;
}

}  // extern "C"
