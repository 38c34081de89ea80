// SPDX-License-Identifier: Apache-2.0
//
// The return addresses that are on a stack, known only from what was executed:
// program counter, stack pointer, and the word that a call leaves behind. No
// instruction is decoded and no unwind table is read.
//
// - A call lowers the stack pointer by 8 and leaves there the address at most
//   15 bytes behind itself (no instruction is longer), without going on there.
// - A return address is gone once the stack pointer has passed its slot:
//   returns, longjmp and exceptions alike.
// - A signal handler begins a piece of its own; it ends when the system call
//   that returns from it has put the interrupted stack pointer back.
#ifndef CAIRN_TESTS_UNWIND_SHADOW_STACK_H_
#define CAIRN_TESTS_UNWIND_SHADOW_STACK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::unwind_tests {

class ShadowStack {
 public:
  struct Place {
    uint64_t pc;
    uint64_t sp;
  };
  static constexpr uint64_t kLongestInstruction = 15;

  // True when going from `from` to `to` may be a call: the word on top of the
  // stack then tells.
  static bool MayBeCall(const Place& from, const Place& to) {
    return to.sp == from.sp - 8;
  }
  // An instruction was executed; `top` is the word at `to.sp`, 0 if unread.
  void Step(const Place& from, const Place& to, uint64_t top);
  // The kernel interrupted `from` and began a handler at `to`.
  void BeginSignal(const Place& from, const Place& to, uint64_t top);
  // A system call has returned to `to`.
  void AfterSystemCall(const Place& to);

  // Return addresses and interrupted instructions, outermost first; without
  // the current instruction.
  const std::vector<uint64_t>& addresses() const { return addresses_; }
  // How often the stack pointer went where no known stack is.
  uint64_t resynchronisations() const { return resynchronisations_; }

 private:
  struct Signal {
    Place interrupted;
    size_t depth;  // entries below it
  };
  void PopTo(uint64_t sp);
  void Push(uint64_t slot, uint64_t address);

  std::vector<uint64_t> addresses_;
  std::vector<uint64_t> slots_;
  std::vector<Signal> signals_;
  uint64_t resynchronisations_ = 0;
};

}  // namespace cairn::unwind_tests

#endif  // CAIRN_TESTS_UNWIND_SHADOW_STACK_H_
