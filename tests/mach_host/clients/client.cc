// SPDX-License-Identifier: Apache-2.0
//
// A Mach-O program that uses the system's interfaces by Apple's headers alone,
// rightly and, in the modes that begin with `wrong_`, against one rule each:
// the host must show both. It prints what it saw; host_test.py compares.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <mach-o/loader.h>
#include <mach/mach.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

namespace {

mach_port_t exception_port = MACH_PORT_NULL;

#pragma pack(push, 4)
struct RaiseRequest {
  mach_msg_header_t header;
  mach_msg_body_t body;
  mach_msg_port_descriptor_t thread, task;
  NDR_record_t ndr;
  exception_type_t exception;
  mach_msg_type_number_t code_count;
  int64_t code[2];
  char trailer[64];
};
struct RaiseReply {
  mach_msg_header_t header;
  NDR_record_t ndr;
  kern_return_t result;
};
#pragma pack(pop)

mach_port_t MakePort() {
  mach_port_t port = MACH_PORT_NULL;
  mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &port);
  mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND);
  return port;
}

bool Receive(RaiseRequest* request) {
  memset(request, 0, sizeof *request);
  const mach_msg_return_t got = mach_msg(
      &request->header, MACH_RCV_MSG, 0, sizeof *request, exception_port, 0, 0);
  if (got != MACH_MSG_SUCCESS) {
    printf("receive 0x%x\n", got);
    return false;
  }
  return true;
}

void Reply(const RaiseRequest& request, kern_return_t result) {
  RaiseReply reply = {};
  reply.header.msgh_bits =
      MACH_MSGH_BITS(MACH_MSGH_BITS_REMOTE(request.header.msgh_bits), 0);
  reply.header.msgh_size = sizeof reply;
  reply.header.msgh_remote_port = request.header.msgh_remote_port;
  reply.header.msgh_id = request.header.msgh_id + 100;
  reply.ndr = NDR_record;
  reply.result = result;
  mach_msg(&reply.header, MACH_SEND_MSG, sizeof reply, 0, 0, 0, 0);
}

void Print(const RaiseRequest& request) {
  printf("id %d exception %d codes 0x%llx 0x%llx size %u\n",
         request.header.msgh_id,
         request.exception,
         static_cast<unsigned long long>(request.code[0]),
         static_cast<unsigned long long>(request.code[1]),
         request.header.msgh_size);
  fflush(stdout);
}

// Prints the message and lets the system go on to the signal.
void* Decline(void*) {
  RaiseRequest request;
  while (Receive(&request)) {
    Print(request);
    Reply(request, KERN_FAILURE);
  }
  return nullptr;
}

// Steps over the faulting instruction, whose length is in `skip`.
int skip = 0;
void* Repair(void*) {
  RaiseRequest request;
  while (Receive(&request)) {
    Print(request);
    x86_thread_state64_t state;
    mach_msg_type_number_t count = x86_THREAD_STATE64_COUNT;
    const mach_port_t thread = request.thread.name;
    thread_get_state(thread,
                     x86_THREAD_STATE64,
                     reinterpret_cast<thread_state_t>(&state),
                     &count);
    state.__rip += static_cast<uint64_t>(skip);
    state.__rax = 42;
    thread_set_state(thread,
                     x86_THREAD_STATE64,
                     reinterpret_cast<thread_state_t>(&state),
                     count);
    Reply(request, KERN_SUCCESS);
  }
  return nullptr;
}

void* AlwaysSuccess(void*) {
  RaiseRequest request;
  while (Receive(&request))
    Reply(request, KERN_SUCCESS);
  return nullptr;
}

// Asks for 64-bit codes and reads two 32-bit ones.
void* Decode32(void*) {
  RaiseRequest request;
  while (Receive(&request)) {
    int32_t codes[2];
    memcpy(codes, request.code, sizeof codes);
    printf("decoded 0x%x 0x%x\n", codes[0], codes[1]);
    fflush(stdout);
    Reply(request, KERN_FAILURE);
  }
  return nullptr;
}

void Serve(void* (*server)(void*),
           int behavior,
           exception_mask_t mask = EXC_MASK_BAD_ACCESS |
                                   EXC_MASK_BAD_INSTRUCTION |
                                   EXC_MASK_ARITHMETIC | EXC_MASK_BREAKPOINT) {
  exception_port = MakePort();
  const kern_return_t set = task_set_exception_ports(
      mach_task_self(), mask, exception_port, behavior, THREAD_STATE_NONE);
  if (set != KERN_SUCCESS)
    printf("set 0x%x\n", set);
  pthread_t thread;
  pthread_create(&thread, nullptr, server, nullptr);
}

constexpr int kWide =
    static_cast<int>(EXCEPTION_DEFAULT | MACH_EXCEPTION_CODES);
volatile uint64_t* const kHigh =
    reinterpret_cast<volatile uint64_t*>(0x123456789000);

void OnSignal(int number, siginfo_t* info, void* raw) {
  const auto* context = static_cast<ucontext_t*>(raw);
  char text[160];
  const int length = snprintf(text,
                              sizeof text,
                              "signal %d code %d address %p trap %u\n",
                              number,
                              info->si_code,
                              info->si_addr,
                              context->uc_mcontext->__es.__trapno);
  write(STDOUT_FILENO, text, static_cast<size_t>(length));
}

void OnSignalThenExit(int number, siginfo_t* info, void* raw) {
  OnSignal(number, info, raw);
  _exit(7);
}

void Handle(int number,
            void (*handler)(int, siginfo_t*, void*),
            int flags = SA_SIGINFO) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
}

std::atomic<bool> stop = false;
std::atomic<uint64_t> turns = 0;
void* Busy(void*) {
  while (!stop)
    turns.fetch_add(1);
  return nullptr;
}
std::atomic<int> naps = 0;
void* Sleeper(void*) {
  while (!stop) {
    naps.fetch_add(1);
    usleep(1000);
  }
  return nullptr;
}

// Freezes all others, calls `inside`, thaws; gives lists back unless told not
// to.
void Freeze(void (*inside)(), bool resume = true) {
  thread_act_array_t threads = nullptr;
  mach_msg_type_number_t count = 0;
  const kern_return_t got = task_threads(mach_task_self(), &threads, &count);
  if (got != KERN_SUCCESS) {
    printf("task_threads 0x%x\n", got);
    return;
  }
  const mach_port_t self = mach_thread_self();
  for (unsigned i = 0; i < count; ++i)
    if (threads[i] != self)
      thread_suspend(threads[i]);
  inside();
  for (unsigned i = 0; i < count; ++i)
    if (threads[i] != self && resume)
      thread_resume(threads[i]);
  for (unsigned i = 0; i < count; ++i)
    mach_port_deallocate(mach_task_self(), threads[i]);
  mach_port_deallocate(mach_task_self(), self);
  vm_deallocate(mach_task_self(),
                reinterpret_cast<vm_address_t>(threads),
                count * sizeof *threads);
  printf("threads %u\n", count);
}

uint64_t turns_before = 0, turns_after = 0;
void Watch() {
  turns_before = turns;
  usleep(20000);
  turns_after = turns;
}
void CallDyld() {
  _dyld_image_count();
}
void* volatile block = nullptr;
void CallMalloc() {
  block = malloc(10);
  free(block);
}
void Unmap() {
  vm_deallocate(mach_task_self(),
                reinterpret_cast<vm_address_t>(mmap(
                    nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0)),
                4096);
}
void Nothing() {}

__attribute__((noinline)) int Overflow(int depth) {
  volatile char block[1024];
  block[0] = static_cast<char>(depth);
  return Overflow(depth + 1) + block[0];
}

int FreezeMode(const char* mode) {
  pthread_t busy, sleeper;
  pthread_create(&busy, nullptr, Busy, nullptr);
  pthread_create(&sleeper, nullptr, Sleeper, nullptr);
  while (turns == 0 || naps < 3)
    usleep(1000);
  if (strcmp(mode, "freeze") == 0) {
    Freeze(Watch);
    printf("moved while frozen: %s\n",
           turns_before == turns_after ? "no" : "yes");
    const uint64_t seen = turns;
    usleep(20000);
    printf("moved after: %s\n", turns != seen ? "yes" : "no");
  } else if (strcmp(mode, "wrong_leak") == 0) {
    Freeze(Nothing, false);
    exit(0);
  } else if (strcmp(mode, "wrong_dyld") == 0) {
    Freeze(CallDyld);
  } else if (strcmp(mode, "wrong_malloc") == 0) {
    Freeze(CallMalloc);
  } else if (strcmp(mode, "wrong_unmap") == 0) {
    Freeze(Unmap);
  } else if (strcmp(mode, "wrong_count") == 0) {
    x86_thread_state64_t state;
    mach_msg_type_number_t count = 10;
    const kern_return_t got =
        thread_get_state(pthread_mach_thread_np(busy),
                         x86_THREAD_STATE64,
                         reinterpret_cast<thread_state_t>(&state),
                         &count);
    printf("thread_get_state 0x%x\n", got);
  } else if (strcmp(mode, "states") == 0) {
    const mach_port_t thread = pthread_mach_thread_np(sleeper);
    thread_suspend(thread);
    x86_thread_state64_t state;
    mach_msg_type_number_t count = x86_THREAD_STATE64_COUNT;
    thread_get_state(thread,
                     x86_THREAD_STATE64,
                     reinterpret_cast<thread_state_t>(&state),
                     &count);
    uint64_t frame = 0, caller = 0;
    vm_size_t size = 0;
    vm_read_overwrite(mach_task_self(),
                      state.__rsp,
                      8,
                      reinterpret_cast<vm_address_t>(&caller),
                      &size);
    vm_read_overwrite(mach_task_self(),
                      state.__rbp,
                      8,
                      reinterpret_cast<vm_address_t>(&frame),
                      &size);
    const auto start = reinterpret_cast<uint64_t>(&Sleeper);
    if (getenv("MACH_CLIENT_DEBUG") != nullptr)
      printf("rip %llx rsp %llx rbp %llx caller %llx start %llx\n",
             state.__rip,
             state.__rsp,
             state.__rbp,
             caller,
             start);
    printf("called from the sleeper: %s\n",
           caller > start && caller < start + 256 ? "yes" : "no");
    printf("frame chain: %s\n",
           frame > state.__rbp || frame == 0 ? "rises" : "broken");
    thread_resume(thread);
  }
  stop = true;
  pthread_join(busy, nullptr);
  pthread_join(sleeper, nullptr);
  return 0;
}

void OnImage(const mach_header* header, intptr_t slide) {
  printf("image 0x%x slide %s\n", header->filetype, slide == 0 ? "0" : "set");
}

int Errors() {
  printf("open: %d\n", open("/no/such/file", O_RDONLY) < 0 ? errno : 0);
  errno = 0;
  printf("after: %d\n", errno);
  struct stat info;
  stat("/etc/passwd", &info);
  printf("file: %s\n",
         S_ISREG(info.st_mode) && info.st_size > 0 ? "yes" : "no");
  printf("again: %d\n", pthread_kill(pthread_self(), 99));
  return 0;
}

int Run(const char* mode) {
  if (strcmp(mode, "decline") == 0) {
    Serve(Decline, kWide);
    return static_cast<int>(*kHigh);
  }
  if (strcmp(mode, "decline_then_handler") == 0) {
    Serve(Decline, kWide);
    Handle(SIGSEGV, OnSignalThenExit);
    return static_cast<int>(*kHigh);
  }
  if (strcmp(mode, "narrow") == 0) {
    Serve(Decline, EXCEPTION_DEFAULT);
    return static_cast<int>(*kHigh);
  }
  if (strcmp(mode, "repair") == 0) {
    Serve(Repair, kWide);
    uint64_t value = 0;
    skip = 3;  // mov (%rcx), %rax
    asm volatile("mov (%1), %%rax\n mov %%rax, %0"
                 : "=r"(value)
                 : "c"(kHigh)
                 : "rax");
    printf("value %llu\n", static_cast<unsigned long long>(value));
    return 0;
  }
  if (strcmp(mode, "kinds") == 0) {
    Serve(Repair, kWide);
    skip = 2;
    asm volatile("ud2");
    asm volatile("xor %%ecx, %%ecx\n xor %%edx, %%edx\n idiv %%ecx" ::
                     : "rax", "rcx", "rdx");
    skip = 0;
    asm volatile("int3");
    skip = 3;
    asm volatile("mov $0x8000000000000000, %%rcx\n mov (%%rcx), %%rax" ::
                     : "rax", "rcx");
    auto* page = static_cast<char*>(
        mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANON, -1, 0));
    asm volatile("mov %%rax, (%0)" ::"c"(page) : "memory");
    printf("page %p\n", page);
    return 0;
  }
  if (strcmp(mode, "wrong_endless") == 0) {
    Serve(AlwaysSuccess, kWide);
    return static_cast<int>(*kHigh);
  }
  if (strcmp(mode, "wrong_codes") == 0) {
    Serve(Decode32, kWide);
    return static_cast<int>(*kHigh);
  }
  if (strcmp(mode, "wrong_exc_crash") == 0) {
    Serve(Decline, kWide, EXC_MASK_CRASH);
    return 0;
  }
  if (strcmp(mode, "overflow") == 0) {
    static char stack[65536];
    const stack_t alternate = {stack, sizeof stack, 0};
    sigaltstack(&alternate, nullptr);
    Handle(SIGSEGV, OnSignalThenExit, SA_SIGINFO | SA_ONSTACK);
    return Overflow(0);
  }
  if (strcmp(mode, "overflow_unhandled_stack") == 0) {
    Handle(SIGSEGV, OnSignalThenExit);
    return Overflow(0);
  }
  if (strcmp(mode, "abort") == 0) {
    Handle(SIGABRT, OnSignal);
    abort();
  }
  if (strcmp(mode, "throw") == 0) {
    try {
      throw std::runtime_error("kept");
    } catch (const std::exception& error) {
      printf("caught %s\n", error.what());
      fflush(stdout);
    }
    throw std::runtime_error("lost");
  }
  if (strcmp(mode, "images") == 0) {
    _dyld_register_func_for_add_image(OnImage);
    printf("count %u\n", _dyld_image_count());
    return 0;
  }
  if (strcmp(mode, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0)
      raise(SIGBUS);
    int status = 0;
    waitpid(child, &status, 0);
    printf("child died of %d\n", WTERMSIG(status));
    return 0;
  }
  if (strcmp(mode, "errors") == 0)
    return Errors();
  return FreezeMode(mode);
}

}  // namespace

int main(int argc, char** argv) {
  return argc > 1 ? Run(argv[1]) : 2;
}
