// SPDX-License-Identifier: Apache-2.0
#include "capture/registers.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn::capture {
namespace {

using format::Architecture;

Registers Numbered(Architecture architecture) {
  Registers registers = {};
  registers.architecture = architecture;
  const auto names = format::RegisterNamesOf(architecture);
  for (size_t i = 0; i < names.count; ++i) {
    registers.Set(static_cast<int>(i), 1000 + i);
  }
  return registers;
}

// The value that a register of this name has in Numbered.
uint64_t Named(Architecture architecture, const std::string& name) {
  const auto names = format::RegisterNamesOf(architecture);
  for (size_t i = 0; i < names.count; ++i) {
    if (names.names[i] == name) {
      return 1000 + i;
    }
  }
  return 0;
}

void ExpectRoles(Architecture architecture,
                 const char* program_counter,
                 const char* link,
                 const char* frame_pointer,
                 const char* stack_pointer) {
  const Registers registers = Numbered(architecture);
  EXPECT_EQ(ProgramCounter(registers), Named(architecture, program_counter));
  EXPECT_EQ(LinkRegister(registers), Named(architecture, link));
  EXPECT_EQ(FramePointer(registers), Named(architecture, frame_pointer));
  EXPECT_EQ(StackPointer(registers), Named(architecture, stack_pointer));
}

TEST(Registers, S1_2_AccessorsForFourArchitectures) {
  ExpectRoles(Architecture::kX86_64, "rip", "", "rbp", "rsp");
  ExpectRoles(Architecture::kI386, "eip", "", "ebp", "esp");
  ExpectRoles(Architecture::kArm64, "pc", "lr", "fp", "sp");
  ExpectRoles(Architecture::kArm, "pc", "lr", "r11", "sp");
}

TEST(Registers, UnknownValueReadsAsZero) {
  Registers registers = Numbered(Architecture::kX86_64);
  registers.Forget(16);
  EXPECT_EQ(ProgramCounter(registers), 0u);
  EXPECT_FALSE(registers.Has(16));
  EXPECT_FALSE(registers.Has(-1));
  EXPECT_EQ(LinkRegister(registers), 0u);
}

}  // namespace
}  // namespace cairn::capture
