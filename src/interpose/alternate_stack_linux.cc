// SPDX-License-Identifier: Apache-2.0
#include "interpose/alternate_stack.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "capture/thread_list_linux.h"
#include "handlers/signals_linux.h"
#include "interpose/stack_offer_linux.h"
#include "safe/syscall_linux.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51  // Linux 5.14
#endif

namespace cairn::interpose {
namespace {

// What OnSignal and everything below it was measured to use, rounded up; a test
// holds it against the real use.
constexpr size_t kHandlerBytes = 48 << 10;
constexpr size_t kSignalFrames = 3;
constexpr uint64_t kOthersLimitNs = 100000000;
constexpr size_t kRecycleTries = 8;

struct Entry {
  void* base = nullptr;  // of the stack, behind its guard page
  int32_t thread_id = 0;
};

using Offers = std::vector<StackOffer>;

struct Stacks {
  std::mutex mutex;
  std::vector<Entry> entries;
  size_t next_try = 0;
  std::vector<std::unique_ptr<Offers>> late;  // a thread may be reading them
};

Stacks& AllStacks() {
  static Stacks* stacks =
      new Stacks;  // never destroyed: threads may outlive main
  return *stacks;
}

size_t PageBytes() {
  return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// For a crash where /proc is gone.
void NoteThread(size_t place, int32_t thread_id) {
  handlers::CrashState* state = handlers::State();
  if (state != nullptr && place < handlers::kMaxKnownThreads) {
    __atomic_store_n(&state->known_threads[place], thread_id, __ATOMIC_RELEASE);
  }
}

bool IsGone(int32_t thread_id) {
  return safe::SystemCall(SYS_tgkill, safe::ProcessId(), thread_id, 0) ==
         -ESRCH;
}

void* MapStack() {
  const size_t page = PageBytes();
  void* base = mmap(nullptr,
                    AlternateStackBytes() + page,
                    PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
                    -1,
                    0);
  if (base == MAP_FAILED) {
    return nullptr;
  }
  void* stack = static_cast<char*>(base) + page;
  if (mprotect(stack, AlternateStackBytes(), PROT_READ | PROT_WRITE) != 0) {
    munmap(base, AlternateStackBytes() + page);
    return nullptr;
  }
  return stack;
}

// A stack for `thread_id`: of a thread that is gone, or a new one. A thread's
// stack is never taken from it while it lives, so one that crashes in its last
// destructor still has it.
void* TakeStack(int32_t thread_id) {
  Stacks& stacks = AllStacks();
  const std::lock_guard lock(stacks.mutex);
  for (size_t i = 0; i < std::min(kRecycleTries, stacks.entries.size()); ++i) {
    const size_t place = stacks.next_try++ % stacks.entries.size();
    Entry& entry = stacks.entries[place];
    if (IsGone(entry.thread_id)) {
      entry.thread_id = thread_id;
      NoteThread(place, thread_id);
      return entry.base;
    }
  }
  void* stack = MapStack();
  if (stack != nullptr) {
    NoteThread(stacks.entries.size(), thread_id);
    stacks.entries.push_back({stack, thread_id});
  }
  return stack;
}

bool IsSufficient(const stack_t& stack) {
  return (stack.ss_flags & SS_DISABLE) == 0 &&
         stack.ss_size >= AlternateStackBytes();
}

std::vector<int32_t> OtherThreads() {
  std::vector<int32_t> ids(handlers::kMaxThreads);
  int failed = 0;
  size_t more = 0;
  ids.resize(capture::ListThreads(
      getpid(), ids.data(), 0, ids.size(), &failed, &more));
  std::erase(ids, safe::ThreadId());
  return ids;
}

}  // namespace

size_t AlternateStackBytes() {
  static const size_t bytes = [] {
    const size_t least =
        std::max<size_t>(getauxval(AT_MINSIGSTKSZ), MINSIGSTKSZ);
    const size_t page = PageBytes();
    return (kSignalFrames * least + kHandlerBytes + page - 1) / page * page;
  }();
  return bytes;
}

bool GiveAlternateStack() {
  stack_t now{};
  if (sigaltstack(nullptr, &now) == 0 && IsSufficient(now)) {
    return true;
  }
  if ((now.ss_flags & SS_ONSTACK) != 0) {
    return false;
  }
  void* base = TakeStack(safe::ThreadId());
  if (base == nullptr) {
    return false;
  }
  stack_t stack{};
  stack.ss_sp = base;
  stack.ss_size = AlternateStackBytes();
  return sigaltstack(&stack, nullptr) == 0;
}

size_t GiveAlternateStackToOthers() {
  const std::vector<int32_t> ids = OtherThreads();
  if (ids.empty()) {
    return 0;
  }
  auto offers = std::make_unique<Offers>();
  for (const int32_t id : ids) {
    void* stack = TakeStack(id);
    if (stack != nullptr) {
      offers->push_back({id, stack});
    }
  }
  OfferStacks(offers->data(), offers->size(), AlternateStackBytes());
  const int signal = SIGRTMAX - 3;
  handlers::KernelAction former{};
  handlers::GetAction(signal, &former);
  handlers::SetAction(
      signal, handlers::HandlerAction(&OnOffer, handlers::kFlagRestart, ~0ull));
  uint32_t sent = 0;
  for (const int32_t id : ids) {
    sent += safe::SystemCall(SYS_tgkill, getpid(), id, signal) == 0 ? 1 : 0;
  }
  const uint32_t answers =
      AwaitAnswers(sent, safe::MonotonicNs() + kOthersLimitNs);
  EndOffer();
  if (answers < sent) {
    // A thread that blocks the signal would run the former handler later, or
    // die of the default action: ours stays, and finds no offer. One that is
    // late may be reading the offers: they stay too.
    const std::lock_guard lock(AllStacks().mutex);
    AllStacks().late.push_back(std::move(offers));
  } else {
    handlers::SetAction(signal, former);
  }
  return answers;
}

}  // namespace cairn::interpose
