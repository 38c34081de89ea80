// SPDX-License-Identifier: Apache-2.0
//
// Walks of the own stack, compared with the compiler's unwinder and with return
// addresses that the functions noted themselves. Compiled with -O2
// -fomit-frame-pointer; linked dynamically, and once more statically, where no
// .eh_frame_hdr is.
#include <gtest/gtest.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/unwind/own_walk.h"

namespace cairn::unwind_tests {
namespace {

using capture::Frame;
using format::FrameKind;
using format::FrameTrust;
using format::WalkEnd;

#define NOINLINE __attribute__((noinline, noclone))
// Keeps a call from becoming a tail call.
#define KEEP asm volatile("" ::: "memory")

OwnImages& Images() {
  static OwnImages images;
  return images;
}

struct Walked {
  std::vector<Frame> frames;
  capture::WalkOutput output = {};

  std::vector<uint64_t> Addresses(size_t from) const {
    std::vector<uint64_t> addresses;
    for (size_t i = from; i < frames.size(); ++i) {
      addresses.push_back(frames[i].address);
    }
    return addresses;
  }
};

Walked WalkFrom(const capture::Registers& registers, size_t most = 512) {
  Walked walked;
  walked.frames.resize(most);
  walked.output = Images().Walk(registers, walked.frames.data(), most);
  walked.frames.resize(walked.output.count);
  return walked;
}

NOINLINE std::vector<uint64_t> Theirs() {
  std::vector<uint64_t> addresses;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* out) {
        int before = 0;
        const uint64_t address = _Unwind_GetIPInfo(context, &before);
        if (address != 0) {
          static_cast<std::vector<uint64_t>*>(out)->push_back(address);
        }
        return _URC_NO_REASON;
      },
      &addresses);
  return addresses;
}

// Both walks from here. The first frame differs, since two calls are made.
struct Both {
  Walked ours;
  std::vector<uint64_t> theirs;
};
NOINLINE void WalkHere(Both* both) {
  ucontext_t context;
  getcontext(&context);
  both->ours = WalkFrom(RegistersOf(context));
  both->theirs = Theirs();
  KEEP;
}
// Everything from the caller of WalkHere on must be the same. `theirs` begins
// with Theirs, then WalkHere.
void ExpectSame(const Both& both) {
  ASSERT_GT(both.theirs.size(), 3u);
  const std::vector<uint64_t> expected(both.theirs.begin() + 2,
                                       both.theirs.end());
  EXPECT_EQ(both.ours.Addresses(1), expected);
  EXPECT_EQ(both.ours.output.end, WalkEnd::kEndOfStack);
  EXPECT_EQ(both.ours.output.gap_frames, 0u);
}

TEST(SelfWalk, S1_3_FromOwnContext) {
  Both both;
  WalkHere(&both);
  ExpectSame(both);
  EXPECT_EQ(both.ours.frames[0].trust, FrameTrust::kContext);
  EXPECT_EQ(both.ours.frames[0].kind, FrameKind::kFault);
  EXPECT_EQ(both.ours.frames[1].trust, FrameTrust::kCfi);
  EXPECT_EQ(both.ours.frames[1].kind, FrameKind::kReturn);
}

Both* callback_result;
int CompareAndWalk(const void* left, const void* right) {
  if (callback_result->theirs.empty()) {
    WalkHere(callback_result);
  }
  return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

TEST(SelfWalk, ThroughACallbackOfTheCLibrary) {
  Both both;
  callback_result = &both;
  int numbers[] = {3, 1, 2, 5, 4};
  std::qsort(numbers, 5, sizeof(int), &CompareAndWalk);
  ExpectSame(both);
}

TEST(SelfWalk, ThreadEndsAtItsStart) {
  Both both;
  pthread_t thread;
  pthread_create(
      &thread,
      nullptr,
      [](void* argument) -> void* {
        WalkHere(static_cast<Both*>(argument));
        KEEP;
        return nullptr;
      },
      &both);
  pthread_join(thread, nullptr);
  ExpectSame(both);
  EXPECT_LT(both.ours.frames.size(), 6u);
}

ucontext_t coroutine;
ucontext_t back;
Both* coroutine_result;
void RunCoroutine() {
  WalkHere(coroutine_result);
  KEEP;
}

TEST(SelfWalk, CoroutineEndsAtItsStart) {
  Both both;
  coroutine_result = &both;
  std::vector<char> stack(1 << 18);
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack.data();
  coroutine.uc_stack.ss_size = stack.size();
  coroutine.uc_link = &back;
  makecontext(&coroutine, &RunCoroutine, 0);
  swapcontext(&back, &coroutine);
  EXPECT_EQ(both.ours.output.end, WalkEnd::kEndOfStack);
  EXPECT_GE(both.ours.frames.size(), 2u);
  EXPECT_LE(both.ours.frames.size(), 3u);
}

// --- signal frames ---

Both* signal_result;
uint64_t interrupted_at;
void WalkInHandler(int, siginfo_t*, void* context) {
  interrupted_at = static_cast<uint64_t>(
      static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  WalkHere(signal_result);
}

size_t FindInterrupted(const Walked& walked) {
  for (size_t i = 0; i < walked.frames.size(); ++i) {
    if (walked.frames[i].kind == FrameKind::kInterrupted) {
      return i;
    }
  }
  return 0;
}

void ExpectInterruptedFrame(const Both& both) {
  const size_t index = FindInterrupted(both.ours);
  ASSERT_GT(index, 1u);
  EXPECT_EQ(both.ours.frames[index].address, interrupted_at);
}

void SetHandler(int number, int flags) {
  struct sigaction action = {};
  action.sa_sigaction = &WalkInHandler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(number, &action, nullptr);
}

TEST(SelfWalk, A3_10_ThroughASignalFrame) {
  Both both;
  signal_result = &both;
  SetHandler(SIGUSR1, 0);
  raise(SIGUSR1);
  ExpectSame(both);
  ExpectInterruptedFrame(both);
}

TEST(SelfWalk, FromAnAlternateStackToTheInterruptedOne) {
  Both both;
  signal_result = &both;
  std::vector<char> memory(1 << 18);
  stack_t stack = {
      .ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  stack_t old = {};
  sigaltstack(&stack, &old);
  SetHandler(SIGUSR1, SA_ONSTACK);
  raise(SIGUSR1);
  sigaltstack(&old, nullptr);
  ExpectSame(both);
  ExpectInterruptedFrame(both);
}

void RaiseInHandler(int) {
  raise(SIGUSR2);
  KEEP;
}

TEST(SelfWalk, A3_12_ThroughNestedSignalFrames) {
  Both both;
  signal_result = &both;
  SetHandler(SIGUSR2, 0);
  std::signal(SIGUSR1, &RaiseInHandler);
  raise(SIGUSR1);
  ExpectSame(both);
}

// musl's trampoline: the same instructions, without call frame information.
asm(R"(
.text
.globl bare_restorer
.hidden bare_restorer
  ret
bare_restorer:
  mov $15, %rax
  syscall
)");
extern "C" void bare_restorer();

TEST(SelfWalk, A3_11_TrampolineWithoutCfiIsKnownByItsBytes) {
  struct {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    uint64_t mask;
  } action = {&WalkInHandler, SA_SIGINFO | 0x04000000, &bare_restorer, 0};
  syscall(SYS_rt_sigaction, SIGUSR1, &action, nullptr, 8);
  Both both;
  signal_result = &both;
  raise(SIGUSR1);
  ExpectInterruptedFrame(both);
  // Their unwinder knows these bytes as well.
  ExpectSame(both);
}

// --- bad program counters: the fault handler walks from where it happened ---

sigjmp_buf fault_jump;
Walked fault_walk;
std::vector<uint64_t> noted;  // return addresses, inner to outer
char not_code[64] = {0x55};

void OnFault(int, siginfo_t*, void* context) {
  fault_walk = WalkFrom(RegistersOf(*static_cast<ucontext_t*>(context)));
  siglongjmp(fault_jump, 1);
}

NOINLINE void CallBad(void (*function)()) {
  noted = {reinterpret_cast<uint64_t>(__builtin_return_address(0))};
  function();
  KEEP;
}
NOINLINE void CallCallBad(void (*function)()) {
  CallBad(function);
  KEEP;
}

void ExpectWalkFromBadCall(uint64_t address) {
  std::signal(SIGSEGV, SIG_DFL);
  struct sigaction action = {};
  action.sa_sigaction = &OnFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  if (sigsetjmp(fault_jump, 1) == 0) {
    CallCallBad(reinterpret_cast<void (*)()>(address));
  }
  std::signal(SIGSEGV, SIG_DFL);
  std::signal(SIGBUS, SIG_DFL);
  ASSERT_GT(fault_walk.frames.size(), 4u);
  EXPECT_EQ(fault_walk.frames[0].address, address);
  const auto function = reinterpret_cast<uint64_t>(&CallBad);
  EXPECT_GT(fault_walk.frames[1].address, function);
  EXPECT_LT(fault_walk.frames[1].address, function + 256);
  EXPECT_EQ(fault_walk.frames[1].trust, FrameTrust::kLinkRegister);
  EXPECT_EQ(fault_walk.frames[2].address, noted[0]);
  EXPECT_EQ(fault_walk.frames[2].trust, FrameTrust::kCfi);
  EXPECT_EQ(fault_walk.output.end, WalkEnd::kEndOfStack);
}

TEST(SelfWalk, S1_4_A3_3_NullCall) {
  ExpectWalkFromBadCall(0);
}
TEST(SelfWalk, A3_19_CallToUnmappedMemory) {
  ExpectWalkFromBadCall(0x123456789000);
}
TEST(SelfWalk, CallToANonCanonicalAddressStaysAtTheCall) {
  // The fault is raised by the call itself: the return address is not pushed.
  std::signal(SIGSEGV, SIG_DFL);
  struct sigaction action = {};
  action.sa_sigaction = &OnFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  if (sigsetjmp(fault_jump, 1) == 0) {
    CallCallBad(reinterpret_cast<void (*)()>(0x4141414141414141));
  }
  std::signal(SIGSEGV, SIG_DFL);
  ASSERT_GT(fault_walk.frames.size(), 3u);
  // Some processors fault behind the push; either way the caller is known.
  const size_t index =
      fault_walk.frames[0].address == 0x4141414141414141 ? 2 : 1;
  EXPECT_EQ(fault_walk.frames[index].address, noted[0]);
}
TEST(SelfWalk, CallIntoMemoryThatIsNotExecutable) {
  ExpectWalkFromBadCall(reinterpret_cast<uint64_t>(not_code));
}

// --- functions without call frame information ---

// with_frame: a frame pointer, and a stale return address below it.
// without_frame: neither. leaf: nothing at all, faults at once.
asm(R"(
.text
.type with_frame, @function
with_frame:
  push %rbp
  mov %rsp, %rbp
  sub $80, %rsp
  mov %rsi, 24(%rsp)
  mov %rsi, 40(%rsp)
  call *%rdi
  leave
  ret
.type without_frame, @function
without_frame:
  sub $40, %rsp
  mov $0, %eax
  mov %rax, (%rsp)
  mov %rax, 8(%rsp)
  mov %rax, 16(%rsp)
  mov %rax, 24(%rsp)
  mov %rax, 32(%rsp)
  call *%rdi
  add $40, %rsp
  ret
.type bare_leaf, @function
bare_leaf:
  nop
  movl $0, 0
  ret
)");
extern "C" {
__attribute__((visibility("hidden"))) void with_frame(void (*)(), uint64_t);
__attribute__((visibility("hidden"))) void without_frame(void (*)(), uint64_t);
__attribute__((visibility("hidden"))) void bare_leaf();
}

Both* bare_result;
NOINLINE void WalkThroughBare() {
  noted = {reinterpret_cast<uint64_t>(__builtin_return_address(0))};
  WalkHere(bare_result);
  KEEP;
}
uint64_t stale;
NOINLINE void NoteStale() {
  stale = reinterpret_cast<uint64_t>(__builtin_return_address(0));
}

// What the frames behind a bare function must be: those of its caller.
void ExpectBridged(void (*bare)(void (*)(), uint64_t), FrameTrust trust) {
  Both both;
  bare_result = &both;
  NoteStale();
  bare(&WalkThroughBare, stale);
  Both here;
  WalkHere(&here);
  const Walked& walked = both.ours;
  // WalkHere, WalkThroughBare, bare, this function.
  ASSERT_GT(walked.frames.size(), 6u);
  EXPECT_EQ(walked.frames[2].address, noted[0]);
  EXPECT_EQ(walked.frames[3].trust, trust);
  EXPECT_EQ(walked.frames[4].trust, FrameTrust::kCfi);
  EXPECT_EQ(walked.Addresses(4), here.ours.Addresses(2));
  EXPECT_EQ(walked.output.end, WalkEnd::kEndOfStack);
}

TEST(FallbackSteps, FramePointerChainWinsOverScan) {
  ExpectBridged(&with_frame, FrameTrust::kFramePointer);
}
TEST(FallbackSteps, ScanBridgesAFrameWithoutAnything) {
  ExpectBridged(&without_frame, FrameTrust::kScan);
}

NOINLINE void CallLeaf() {
  noted = {reinterpret_cast<uint64_t>(__builtin_return_address(0))};
  bare_leaf();
  KEEP;
}

TEST(FallbackSteps, FaultInALeafWithoutCfiFindsItsCaller) {
  struct sigaction action = {};
  action.sa_sigaction = &OnFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  if (sigsetjmp(fault_jump, 1) == 0) {
    CallLeaf();
  }
  std::signal(SIGSEGV, SIG_DFL);
  ASSERT_GT(fault_walk.frames.size(), 3u);
  EXPECT_EQ(fault_walk.frames[0].address,
            reinterpret_cast<uint64_t>(&bare_leaf) + 1);
  EXPECT_EQ(fault_walk.frames[1].trust, FrameTrust::kLinkRegister);
  EXPECT_EQ(fault_walk.frames[2].address, noted[0]);
}

// --- depth ---

constexpr int kDepth = 120000;
NOINLINE void WalkBothEnds(Both* both) {
  ucontext_t context;
  getcontext(&context);
  const auto registers = RegistersOf(context);
  capture::WalkInput input = Images().Input(registers);
  both->ours.frames.resize(512);
  both->ours.output.frames = both->ours.frames.data();
  WalkStack(input, &both->ours.output);
  KEEP;
}
NOINLINE int Deep(int depth, Both* both) {
  if (depth == 0) {
    WalkBothEnds(both);
    return 1;
  }
  const int result = Deep(depth - 1, both);
  KEEP;
  return result + 1;
}

TEST(SelfWalk, A3_29_DeepStackKeepsBothEndsAndCountsTheMiddle) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 20);
  Both both;
  pthread_t thread;
  pthread_create(
      &thread,
      &attributes,
      [](void* argument) -> void* {
        Deep(kDepth, static_cast<Both*>(argument));
        KEEP;
        return nullptr;
      },
      &both);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  const auto& output = both.ours.output;
  EXPECT_EQ(output.count, 512u);
  EXPECT_EQ(output.gap_position, 256u);
  EXPECT_EQ(output.end, WalkEnd::kEndOfStack);
  // Deep for each depth, the thread's function and what starts threads.
  const size_t all = output.count + output.gap_frames;
  EXPECT_GE(all, size_t{kDepth} + 4);
  EXPECT_LE(all, size_t{kDepth} + 6);
  for (size_t i = 1; i < 512; ++i) {
    ASSERT_GT(both.ours.frames[i].stack_pointer,
              both.ours.frames[i - 1].stack_pointer)
        << i;
  }
}

TEST(SelfWalk, MostFramesIsTheLastBound) {
  ucontext_t context;
  getcontext(&context);
  const auto registers = RegistersOf(context);
  capture::WalkInput input = Images().Input(registers);
  input.limits.most_frames = 3;
  Frame frames[512];
  capture::WalkOutput output = {};
  output.frames = frames;
  WalkStack(input, &output);
  EXPECT_EQ(output.count, 3u);
  EXPECT_EQ(output.end, WalkEnd::kLimit);
}

TEST(RuleCache, SecondWalkIsTheSameWithFewerReads) {
  static size_t reads;
  const safe::MemoryReader counting = {
      [](void*, uint64_t address, void* out, size_t bytes) {
        ++reads;
        return capture::OwnMemory().ReadSome(address, out, bytes);
      },
      nullptr};
  OwnImages cached(true);
  ucontext_t context;
  getcontext(&context);
  const auto registers = RegistersOf(context);
  capture::WalkInput input = cached.Input(registers);
  input.memory = counting;
  input.stack_memory = counting;
  Frame frames[2][512];
  capture::WalkOutput output[2] = {};
  size_t needed[2];
  for (int i = 0; i < 2; ++i) {
    reads = 0;
    output[i].frames = frames[i];
    WalkStack(input, &output[i]);
    needed[i] = reads;
  }
  ASSERT_EQ(output[0].count, output[1].count);
  EXPECT_EQ(output[1].end, WalkEnd::kEndOfStack);
  for (size_t i = 0; i < output[0].count; ++i) {
    EXPECT_EQ(frames[0][i].address, frames[1][i].address);
    EXPECT_EQ(frames[0][i].trust, frames[1][i].trust);
  }
  // One read of the stack a frame, none of tables.
  EXPECT_LT(needed[1], output[1].count + 2);
  EXPECT_GT(needed[0], 5 * output[0].count);
}

}  // namespace
}  // namespace cairn::unwind_tests
