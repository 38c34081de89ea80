// SPDX-License-Identifier: Apache-2.0
//
// What other unwinders say of a process that stands still: libunwind (through
// ptrace, by the thread that traces it) and gdb (which gets the process).
#ifndef CAIRN_TESTS_UNWIND_STEP_ORACLES_H_
#define CAIRN_TESTS_UNWIND_STEP_ORACLES_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace cairn::unwind_tests {

// Addresses as found, innermost first; empty when it gave none.
std::vector<uint64_t> LibunwindStack(pid_t id, size_t most);
// The process is not traced afterwards.
std::vector<uint64_t> GdbStack(pid_t id);

}  // namespace cairn::unwind_tests

#endif  // CAIRN_TESTS_UNWIND_STEP_ORACLES_H_
