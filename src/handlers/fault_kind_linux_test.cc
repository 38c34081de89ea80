// SPDX-License-Identifier: Apache-2.0
//
// Real faults, caught and stepped back from: what siginfo, ucontext and the
// mappings are made to mean. Expectations: sigaction(2), and what the test did.
#include "handlers/fault_kind_linux.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>

#include "capture/context_linux.h"
#include "handlers/zeroed_state.h"

namespace cairn::handlers {
namespace {

using format::FaultKind;

sigjmp_buf g_back;
writer::SignalFacts g_facts;
capture::StackBounds g_stack;
CrashState* g_crash = nullptr;

void OnSignal(int signal, siginfo_t* info, void* context) {
  ReadSignalFacts(signal, info, context, &g_facts);
  capture::RegistersFromUcontext(context, &g_crash->registers);
  g_stack = {};
  LookAround(*g_crash, &g_facts, &g_stack);
  siglongjmp(g_back, 1);
}

class FaultKindTest : public testing::Test {
 protected:
  FaultKindTest() {
    images_ = std::make_unique<capture::ImageTable>();
    images_->Init(&image_, 1);
    state_->images = images_.get();
    state_->process_id = static_cast<int32_t>(getpid());
    g_crash = state_.get();
    stack_t stack = {};
    stack.ss_sp = alternate_;
    stack.ss_size = sizeof(alternate_);
    sigaltstack(&stack, &before_);
    struct sigaction action = {};
    action.sa_sigaction = &OnSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : kSignals) {
      sigaction(signal, &action, &earlier_[signal]);
    }
  }
  ~FaultKindTest() override {
    for (const int signal : kSignals) {
      sigaction(signal, &earlier_[signal], nullptr);
    }
    sigaltstack(&before_, nullptr);
  }

  void Do(const std::function<void()>& deed) {
    g_facts = {};
    if (sigsetjmp(g_back, 1) == 0) {
      deed();
      FAIL() << "it went on";
    }
  }
  static char* Pages(int count, int protection) {
    return static_cast<char*>(mmap(
        nullptr, count * 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  void Read(const volatile char* address) {
    Do([address] { (void)*address; });
  }

  const Zeroed<CrashState> state_;
  std::unique_ptr<capture::ImageTable> images_;
  capture::Image image_ = {};
  stack_t before_ = {};
  struct sigaction earlier_[65] = {};
  alignas(16) char alternate_[64 << 10];
};

TEST_F(FaultKindTest, NullPage) {
  Read(reinterpret_cast<char*>(0x10));
  EXPECT_EQ(g_facts.number, SIGSEGV);
  EXPECT_EQ(g_facts.code, SEGV_MAPERR);
  EXPECT_TRUE(g_facts.has_fault_address);
  EXPECT_EQ(g_facts.fault_address, 0x10u);
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kNullPage);
  EXPECT_TRUE(g_facts.has_trap);
  EXPECT_EQ(g_facts.trap, 14u);  // #PF
  EXPECT_FALSE(g_facts.has_sender);
  EXPECT_FALSE(g_facts.has_syscall);
  Read(reinterpret_cast<char*>(0xffff));
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kNullPage);
}

// The processor tells no address; the instruction does.
TEST_F(FaultKindTest, NonCanonicalAddressIsTheInstructions) {
  Read(reinterpret_cast<char*>(0x4141414141414141));
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kNonCanonical);
  EXPECT_TRUE(g_facts.has_fault_address);
  EXPECT_EQ(g_facts.fault_address, 0x4141414141414141u);
}

TEST_F(FaultKindTest, UnmappedProtectedNotExecutable) {
  char* pages = Pages(3, PROT_READ | PROT_WRITE);
  munmap(pages + 4096, 4096);
  Read(pages + 4096 + 9);
  EXPECT_EQ(g_facts.fault_address, reinterpret_cast<uint64_t>(pages + 4105));
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kUnmapped);
  mprotect(pages, 4096, PROT_NONE);
  Read(pages);
  EXPECT_EQ(g_facts.code, SEGV_ACCERR);
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kProtected);
  Do([pages] { reinterpret_cast<void (*)()>(pages + 8192)(); });
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kNotExecutable);
  EXPECT_EQ(g_facts.fault_address, reinterpret_cast<uint64_t>(pages + 8192));
  munmap(pages, 4096);
  munmap(pages + 8192, 4096);
}

TEST_F(FaultKindTest, FileThatGotShorter) {
  char path[] = "/tmp/cairn-fault-XXXXXX";
  const int fd = mkstemp(path);
  unlink(path);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  char* page =
      static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0));
  ASSERT_EQ(ftruncate(fd, 0), 0);
  Read(page);
  EXPECT_EQ(g_facts.number, SIGBUS);
  EXPECT_EQ(g_facts.code, BUS_ADRERR);
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kUnmapped);
  munmap(page, 4096);
  close(fd);
}

// Put together: with the processor's check switched on (EFLAGS.AC) no handler
// of the C library would get far.
TEST_F(FaultKindTest, Misaligned) {
  ucontext_t context;
  getcontext(&context);
  siginfo_t info = {};
  info.si_signo = SIGBUS;
  info.si_code = BUS_ADRALN;
  info.si_addr = reinterpret_cast<void*>(0x7fff0001);
  ReadSignalFacts(SIGBUS, &info, &context, &g_facts);
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kMisaligned);
  EXPECT_EQ(g_facts.fault_address, 0x7fff0001u);
}

TEST_F(FaultKindTest, DivisionAndBadInstructionHaveNoFaultKind) {
  Do([] {
    volatile int thousand = 1000, zero = 0;
    volatile int result = thousand / zero;
    (void)result;
  });
  EXPECT_EQ(g_facts.number, SIGFPE);
  EXPECT_EQ(g_facts.code, FPE_INTDIV);
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kNone);
  Do([] { asm volatile("ud2"); });
  EXPECT_EQ(g_facts.number, SIGILL);
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kNone);
  EXPECT_EQ(g_facts.fault_address, capture::ProgramCounter(g_crash->registers));
}

TEST_F(FaultKindTest, SentSignalsHaveASenderAndNoAddress) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGTRAP}) {
    Do([signal] { raise(signal); });
    EXPECT_EQ(g_facts.number, signal);
    EXPECT_EQ(g_facts.code, SI_TKILL);
    EXPECT_TRUE(g_facts.has_sender);
    EXPECT_EQ(g_facts.sender_pid, static_cast<uint32_t>(getpid()));
    EXPECT_EQ(g_facts.sender_uid, getuid());
    EXPECT_FALSE(g_facts.has_fault_address);
    EXPECT_EQ(g_facts.fault_kind, FaultKind::kNone);
  }
  Do([] {
    sigval value = {};
    sigqueue(getpid(), SIGSEGV, value);
  });
  EXPECT_EQ(g_facts.code, SI_QUEUE);
  EXPECT_TRUE(g_facts.has_sender);
}

// Runs on a stack of the test's own, below which nothing is mapped.
TEST_F(FaultKindTest, StackThatRanOutIsToldByItsOwnBounds) {
  constexpr size_t kBytes = 32 << 10;
  char* pages = Pages(32, PROT_NONE);
  char* low = pages + 16 * 4096;
  ASSERT_EQ(mprotect(low, kBytes, PROT_READ | PROT_WRITE), 0);
  char* top = low + kBytes;
  Do([top] {
    asm volatile(
        "movq %0, %%rsp\n\t"
        "1: pushq $0\n\t"
        "jmp 1b" ::"r"(top)
        : "memory");
  });
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kStackGuard);
  EXPECT_EQ(g_stack.low, reinterpret_cast<uint64_t>(low));
  EXPECT_EQ(g_stack.high, reinterpret_cast<uint64_t>(top));
  // The same page touched from elsewhere is no overflow.
  Read(low - 8);
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kProtected);
  munmap(pages, 32 * 4096);
}

TEST_F(FaultKindTest, CodeOfAnUnloadedImage) {
  char* pages = Pages(1, PROT_READ);
  munmap(pages, 4096);
  const auto address = reinterpret_cast<uint64_t>(pages);
  capture::Image image = {};
  image.address = address;
  image.bytes = 4096;
  image.segments[0] = {address, 4096, capture::kSegmentExecute, 0};
  image.segment_count = 1;
  images_->MarkUnloaded(images_->Append(image));
  Read(pages + 4);
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kFreedMapping);
}

TEST_F(FaultKindTest, WithoutDescriptorsTheSignalsOwnWordsStand) {
  char* pages = Pages(1, PROT_READ);
  munmap(pages, 4096);
  rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &none);
  Read(pages);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(g_facts.fault_kind, FaultKind::kUnmapped);
  EXPECT_EQ(g_stack.high, 0u);
}

}  // namespace
}  // namespace cairn::handlers
