// SPDX-License-Identifier: Apache-2.0
#include "violations.h"

#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace mach_host {
namespace {

std::atomic<int> count = 0;
int descriptor = STDERR_FILENO;

void Line(const char* a, const char* b, const char* c, const char* d) {
  const auto part = [](const char* text) {
    return iovec{const_cast<char*>(text), std::strlen(text)};
  };
  const iovec parts[] = {part(a), part(b), part(c), part(d), part("\n")};
  if (writev(descriptor, parts, 5) < 0)
    return;
}

}  // namespace

void Violation(const char* rule, const char* detail) {
  count.fetch_add(1);
  Line("violation: ", rule, ": ", detail);
}

int ViolationCount() {
  return count;
}

void Verdict(const char* key, const char* value) {
  Line(key, " ", value, "");
}

void SetVerdictDescriptor(int to) {
  descriptor = to;
}

Faults& PlayedFaults() {
  static Faults faults;
  return faults;
}

}  // namespace mach_host
