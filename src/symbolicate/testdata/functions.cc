// SPDX-License-Identifier: Apache-2.0
//
// Functions of every kind that a symbol table can name. Built in several ways
// for symbolicator_test.cc, which asks other tools what is where.
extern "C" {

__attribute__((noinline)) int GlobalFunction(int value) {
  return value * 3 + 1;
}

__attribute__((noinline, weak, alias("GlobalFunction"))) int WeakAlias(int);

__attribute__((noinline, weak)) int WeakFunction(int value) {
  return value ^ 0x55;
}

// Hand-written assembly without sizes: one function ends where the next begins,
// the last with its section. A label inside a sized function names nothing.
__asm__(
    ".pushsection .text.assembly,\"ax\",@progbits\n"
    ".globl AssemblyFirst\n"
    ".type AssemblyFirst,@function\n"
    "AssemblyFirst:\n  nop\n  nop\n  nop\n  ret\n"
    ".globl AssemblySecond\n"
    "AssemblySecond:\n  nop\n  ret\n"
    ".globl SizedAssembly\n"
    ".type SizedAssembly,@function\n"
    "SizedAssembly:\n  nop\n  nop\n"
    "inner_label:\n  nop\n  ret\n"
    ".size SizedAssembly,.-SizedAssembly\n"
    "  int3\n  int3\n  int3\n"
    ".globl AfterGap\n"
    ".type AfterGap,@function\n"
    "AfterGap:\n  nop\n  ret\n"
    ".size AfterGap,.-AfterGap\n"
    "  int3\n  int3\n"
    ".popsection\n");
void AssemblyFirst();
void AssemblySecond();
void SizedAssembly();
void AfterGap();

// A call that never returns as the last instruction: its return address lies
// behind the function.
__attribute__((noinline, noreturn)) void NeverReturns() {
  __builtin_trap();
}
__attribute__((noinline, noreturn)) void EndsInCall() {
  NeverReturns();
}

#ifndef FREESTANDING
static int Resolved(int value) {
  return value - 7;
}
using Function = int (*)(int);
Function Resolve() {
  return Resolved;
}
int Indirect(int value) __attribute__((ifunc("Resolve")));
#endif
}

namespace outer {
namespace {
__attribute__((noinline)) int LocalFunction(int value) {
  return value + 11;
}
}  // namespace

template <typename T, int N>
struct Template {
  __attribute__((noinline)) static T Method(T value, const char*) {
    return value * N;
  }
};

class Widget {
 public:
  explicit Widget(int value);
  int operator()(int value) const;

 private:
  int value_;
};
__attribute__((noinline)) Widget::Widget(int value) : value_(value) {}
__attribute__((noinline)) int Widget::operator()(int value) const {
  return value_ + value;
}

int Run(int value) {
  const Widget widget(value);
  return widget(LocalFunction(value)) +
         Template<long, 5>::Method(value, "x") % 100;
}
}  // namespace outer

#ifdef FREESTANDING
extern "C" void _start() {
  outer::Run(GlobalFunction(1) + WeakFunction(2));
}
#else
int main(int argc, char**) {
  if (argc > 5) {
    EndsInCall();
  }
  AssemblyFirst();
  AssemblySecond();
  SizedAssembly();
  AfterGap();
  return outer::Run(GlobalFunction(argc) + WeakFunction(argc)) == 123456;
}
#endif
