// SPDX-License-Identifier: Apache-2.0
//
// The crasher tells, on standard output, what it knows of itself before it
// crashes; the test compares. One fact a line: a word, then its values.
#ifndef CAIRN_TESTS_CRASH_CRASHER_H_
#define CAIRN_TESTS_CRASH_CRASHER_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace cairn::crash {

// `word value…` to standard output, at once.
void Tell(const std::string& word, const std::string& values);
void TellAddress(const char* word, uint64_t address);

// Says the calling thread's id, name and stack (by glibc's backtrace) and from
// then on forbids the allocator: last call before the fault.
void TellSelf();
// The same without the stack.
void TellThread();

// From now on an allocation ends the process with exit code 99.
void ForbidAllocation();

// Starts a thread that waits for ever in `parked_thread`, named `name`; returns
// once it has told its id.
void ParkThread(const std::string& name, size_t stack_bytes = 0);

// Runs `function` in a new thread and waits for it.
void RunInThread(void (*function)(), const char* name);

// Threads that were made before cairn_install; `function` runs in the one.
void StartOlderThread();
void RunInOlderThread(void (*function)());

// A value that the compiler cannot know.
template <typename T>
T Hide(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

// Installs Cairn, and says why on standard error when it cannot; `name` is the
// case, and outlives all. One body for the program with Cairn in it and one for
// the preload.
bool InstallCairn(const char* directory, char* name);

// In the crash callback: while other threads of this case have yet to crash,
// waits (bounded) until each of them sleeps in its own crash.
void WaitUntilAllHaveCrashed();

using CrashFunction = void (*)();
CrashFunction FindCrash(const std::string& name);
// Called before cairn_install, for cases that need an earlier handler.
void PrepareCrash(const std::string& name);

}  // namespace cairn::crash

#endif  // CAIRN_TESTS_CRASH_CRASHER_H_
