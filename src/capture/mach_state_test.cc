// SPDX-License-Identifier: Apache-2.0
#include "capture/mach_state.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>

namespace cairn::capture::mach {
namespace {

uint64_t Named(const Registers& registers, const std::string& name) {
  const format::RegisterNames names =
      format::RegisterNamesOf(registers.architecture);
  for (size_t i = 0; i < names.count; ++i) {
    if (name == names.names[i]) {
      EXPECT_TRUE(registers.Has(static_cast<int>(i))) << name;
      return registers.values[i];
    }
  }
  ADD_FAILURE() << "no register " << name;
  return 0;
}

// Word i of the state is i + 1: the order is that of Apple's structures.
template <typename State, typename Word>
State Counted() {
  Word words[sizeof(State) / sizeof(Word)];
  std::iota(std::begin(words), std::end(words), Word{1});
  State state;
  std::memcpy(&state, words, sizeof(state));
  return state;
}

TEST(MachState, S1_2_X86_64RegistersStandByName) {
  Registers r;
  RegistersFrom(Counted<StateX86_64, uint64_t>(), &r);
  EXPECT_EQ(Named(r, "rax"), 1u);
  EXPECT_EQ(Named(r, "rbx"), 2u);
  EXPECT_EQ(Named(r, "rcx"), 3u);
  EXPECT_EQ(Named(r, "rdx"), 4u);
  EXPECT_EQ(Named(r, "rdi"), 5u);
  EXPECT_EQ(Named(r, "rsi"), 6u);
  EXPECT_EQ(FramePointer(r), 7u);
  EXPECT_EQ(StackPointer(r), 8u);
  EXPECT_EQ(Named(r, "r15"), 16u);
  EXPECT_EQ(ProgramCounter(r), 17u);
  EXPECT_EQ(Named(r, "rflags"), 18u);
  EXPECT_EQ(Named(r, "cs"), 19u);
  EXPECT_FALSE(r.Has(19));  // ss: the state does not tell
}

TEST(MachState, S1_2_I386RegistersStandByName) {
  Registers r;
  RegistersFrom(Counted<StateI386, uint32_t>(), &r);
  EXPECT_EQ(Named(r, "eax"), 1u);
  EXPECT_EQ(Named(r, "ebx"), 2u);
  EXPECT_EQ(FramePointer(r), 7u);
  EXPECT_EQ(StackPointer(r), 8u);
  EXPECT_EQ(Named(r, "ss"), 9u);
  EXPECT_EQ(Named(r, "eflags"), 10u);
  EXPECT_EQ(ProgramCounter(r), 11u);
  EXPECT_EQ(Named(r, "gs"), 16u);
}

TEST(MachState, S1_2_Arm64RegistersStandByName) {
  Registers r;
  RegistersFrom(Counted<StateArm64, uint64_t>(), 0, &r);
  EXPECT_EQ(Named(r, "x0"), 1u);
  EXPECT_EQ(Named(r, "x28"), 29u);
  EXPECT_EQ(FramePointer(r), 30u);
  EXPECT_EQ(LinkRegister(r), 31u);
  EXPECT_EQ(StackPointer(r), 32u);
  EXPECT_EQ(ProgramCounter(r), 33u);
  EXPECT_EQ(Named(r, "pstate"), 34u);
}

TEST(MachState, S1_2_ArmRegistersStandByName) {
  Registers r;
  RegistersFrom(Counted<StateArm, uint32_t>(), &r);
  EXPECT_EQ(Named(r, "r0"), 1u);
  EXPECT_EQ(FramePointer(r), 12u);
  EXPECT_EQ(StackPointer(r), 14u);
  EXPECT_EQ(LinkRegister(r), 15u);
  EXPECT_EQ(ProgramCounter(r), 16u);
  EXPECT_EQ(Named(r, "cpsr"), 17u);
}

// A3.5: a signed link register, as an arm64e thread shows it.
TEST(MachState, A3_5_SignaturesAreRemovedFromTheFourWithARole) {
  StateArm64 state = {};
  state.x[3] = 0x552d8101b7499f3c;
  state.lr = 0x552d8001b7499f3c;
  state.pc = 0x0000000100003f10;
  Registers r;
  RegistersFrom(state, 0, &r);
  EXPECT_EQ(LinkRegister(r), 0x1b7499f3cu);
  EXPECT_EQ(ProgramCounter(r), 0x100003f10u);
  EXPECT_EQ(Named(r, "x3"), 0x552d8101b7499f3cu);
}

TEST(MachState, A3_6_WidthOfAnAddressIsTheKernels) {
  EXPECT_EQ(StripSignature(0xffff'ffff'ffff'ffff, 39), 0x7f'ffff'ffffu);
  EXPECT_EQ(StripSignature(0xffff'ffff'ffff'ffff, 0), 0x7fff'ffff'ffffu);
  EXPECT_EQ(StripSignature(0xffff'ffff'ffff'ffff, 64), 0x7fff'ffff'ffffu);
}

}  // namespace
}  // namespace cairn::capture::mach
