// SPDX-License-Identifier: Apache-2.0
#include "tests/unwind/step_oracles.h"

#include <libunwind-ptrace.h>
#include <sys/ptrace.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cairn::unwind_tests {
namespace {

// Output of `bt -frame-info location-and-address` begins lines with `#N`; the
// program counter of each frame is asked for instead: gdb prints no address
// where a line begins.
std::string GdbCommand(pid_t id) {
  return "gdb -q -nx -batch -p " + std::to_string(id) +
         " -ex 'set backtrace past-main on' -ex 'set backtrace past-entry on'"
         " -ex 'frame apply all -q printf \"pc=%lx\\n\", $pc'"
         " 2>/dev/null </dev/null";
}

}  // namespace

std::vector<uint64_t> LibunwindStack(pid_t id, size_t most) {
  std::vector<uint64_t> stack;
  unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
  void* process = _UPT_create(id);
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, space, process) == 0) {
    do {
      unw_word_t address = 0;
      unw_get_reg(&cursor, UNW_REG_IP, &address);
      if (address == 0) {
        break;
      }
      stack.push_back(address);
    } while (stack.size() < most && unw_step(&cursor) > 0);
  }
  _UPT_destroy(process);
  unw_destroy_addr_space(space);
  return stack;
}

std::vector<uint64_t> GdbStack(pid_t id) {
  std::vector<uint64_t> stack;
  if (ptrace(PTRACE_DETACH, id, nullptr, SIGSTOP) != 0) {
    return stack;
  }
  if (FILE* pipe = popen(GdbCommand(id).c_str(), "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), pipe) != nullptr) {
      const std::string text = line;
      if (text.starts_with("pc=")) {
        stack.push_back(std::strtoull(text.c_str() + 3, nullptr, 16));
      }
    }
    pclose(pipe);
  }
  return stack;
}

}  // namespace cairn::unwind_tests
