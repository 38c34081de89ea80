// SPDX-License-Identifier: Apache-2.0
//
// Rules of the real system that a program broke without any visible effect
// here.
#ifndef MACH_HOST_VIOLATIONS_H_
#define MACH_HOST_VIOLATIONS_H_

namespace mach_host {

// Writes `violation: RULE: DETAIL` to the verdict's descriptor. From any thread
// and in signal handlers.
void Violation(const char* rule, const char* detail);
int ViolationCount();
// Writes one line of facts, such as `uuid …` or `import _open`.
void Verdict(const char* key, const char* value);
// Where both go; standard error from the start.
void SetVerdictDescriptor(int descriptor);

// Faults that the host plays on request (--fault NAME).
struct Faults {
  int slow_reply_ms = 0;  // each message from the kernel comes so late
  bool late_thread =
      false;  // a thread is born between two calls of task_threads
  bool task_threads_fails = false;
  bool allocator_held =
      false;  // while a thread is frozen, the allocator's lock is held
  bool loader_held = false;  // the same for dyld's lock
  bool port_dies = false;    // the receive right dies with the message queued
  bool debugger = false;     // P_TRACED, and a debugger's task exception port
};
Faults& PlayedFaults();

}  // namespace mach_host

#endif  // MACH_HOST_VIOLATIONS_H_
