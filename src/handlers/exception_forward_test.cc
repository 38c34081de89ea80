// SPDX-License-Identifier: Apache-2.0
#include "handlers/exception_forward.h"

#include <gtest/gtest.h>

#include "handlers/mach_fault.h"

namespace cairn::handlers {
namespace {

using format::Architecture;
using format::FaultKind;

constexpr EarlierPorts kNobody = {};
const EarlierPorts kSomebody = {
    {{1u << 1 | 1u << 6, 0x1503, kBehaviorDefault, 0},
     {1u << 12, 0x1603, kBehavior64 | kBehaviorDefault, 0},
     {1u << 2, 0, kBehaviorDefault, 0}},
    3};

TEST(ExceptionForward, A1_6_NobodyBeforeLeavesItToTheKernel) {
  EXPECT_EQ(PlanForward(kNobody, 1, Architecture::kArm64), Forward::kNone);
  EXPECT_EQ(PlanForward(kSomebody, 2, Architecture::kArm64), Forward::kNone);
  EXPECT_EQ(PlanForward(kSomebody, 40, Architecture::kArm64), Forward::kNone);
}

TEST(ExceptionForward, A1_7_AFaultIsRepeatedForTheEarlierPort) {
  EXPECT_EQ(FindEarlier(kSomebody, 1)->port, 0x1503u);
  EXPECT_EQ(PlanForward(kSomebody, 1, Architecture::kX86_64),
            Forward::kFaultAgain);
}

TEST(ExceptionForward, A1_7_WhatPassesIsSentAsAMessage) {
  EXPECT_EQ(PlanForward(kSomebody, 6, Architecture::kX86_64),
            Forward::kMessage);
  EXPECT_EQ(PlanForward(kSomebody, 6, Architecture::kArm64),
            Forward::kFaultAgain);
  EXPECT_EQ(PlanForward(kSomebody, 12, Architecture::kArm64),
            Forward::kMessage);
}

TEST(ExceptionForward, A1_49_SignalShownToADebuggerIsNoCrash) {
  EXPECT_TRUE(IsDebuggersSignal({1, 2, 5, 2, {0x10003, 5}}));
  EXPECT_FALSE(IsDebuggersSignal({1, 2, 5, 2, {0x10002, 0}}));
  EXPECT_FALSE(IsDebuggersSignal({1, 2, 1, 2, {0x10003, 0}}));
}

TEST(ExceptionForward, CrashOfTheWholeProcessIsNeverAskedFor) {
  EXPECT_EQ(kExceptionMask >> 10 & 1, 0u);  // EXC_CRASH (finding 14)
}

// xnu bsd/uxkern/ux_exception.c, the table at its head.
TEST(ExceptionForward, SignalIsTheKernelsTranslation) {
  EXPECT_EQ(SignalOf(1, 1, 0), 11);
  EXPECT_EQ(SignalOf(1, 2, 0), 10);
  EXPECT_EQ(SignalOf(1, 13, 0), 11);  // EXC_I386_GPFLT
  EXPECT_EQ(SignalOf(2, 1, 0), 4);
  EXPECT_EQ(SignalOf(3, 1, 0), 8);
  EXPECT_EQ(SignalOf(5, 0x10002, 0), 6);
  EXPECT_EQ(SignalOf(6, 1, 0), 5);
  EXPECT_EQ(SignalOf(99, 1, 0), 0);
}

MachFault FaultAt(uint64_t address, int64_t code = 1) {
  MachFault fault = {};
  fault.exception = 1;
  fault.code = code;
  fault.address = address;
  fault.architecture = Architecture::kArm64;
  fault.program_counter = 0x100004000;
  fault.stack = {0x16f000000, 0x16f800000};
  fault.stack_pointer = 0x16f700000;
  return fault;
}

TEST(MachFault, A3_27_OverflowIsToldByTheThreadsOwnStack) {
  MachFault fault = FaultAt(0x16effff00, 2);
  fault.stack_pointer = 0x16efffff0;
  fault.mapped = true;
  fault.tag = 30;
  EXPECT_EQ(ClassifyMachFault(fault), FaultKind::kStackGuard);
  fault.stack_pointer = 0x16f700000;  // a wild pointer that hits the guard
  EXPECT_EQ(ClassifyMachFault(fault), FaultKind::kProtected);
}

TEST(MachFault, FarIntoTheMainThreadsGuardIsStillAnOverflow) {
  MachFault fault = FaultAt(0x16d000000, 2);
  fault.stack_pointer = 0x16d000100;
  fault.mapped = true;
  fault.tag = 30;
  EXPECT_EQ(ClassifyMachFault(fault), FaultKind::kStackGuard);
}

TEST(MachFault, KindsByAddressAndRegion) {
  EXPECT_EQ(ClassifyMachFault(FaultAt(0x10)), FaultKind::kNullPage);
  EXPECT_EQ(ClassifyMachFault(FaultAt(0x900000000)), FaultKind::kUnmapped);
  MachFault fault = FaultAt(0x900000000);
  fault.in_unloaded_image = true;
  EXPECT_EQ(ClassifyMachFault(fault), FaultKind::kFreedMapping);
  fault = FaultAt(0x900000000, 2);
  fault.mapped = true;
  fault.protection = 1;
  EXPECT_EQ(ClassifyMachFault(fault), FaultKind::kProtected);
  fault.program_counter = fault.address;
  EXPECT_EQ(ClassifyMachFault(fault), FaultKind::kNotExecutable);
  EXPECT_EQ(ClassifyMachFault(FaultAt(0x900000001, 0x101)),
            FaultKind::kMisaligned);
}

TEST(MachFault, GeneralProtectionHasNoAddress) {
  MachFault fault = FaultAt(0, 13);
  fault.architecture = Architecture::kX86_64;
  EXPECT_EQ(ClassifyMachFault(fault), FaultKind::kNonCanonical);
  EXPECT_FALSE(HasFaultAddress(fault));
}

TEST(MachFault, OtherExceptionsHaveNoKind) {
  MachFault fault = FaultAt(0x10);
  fault.exception = 2;
  EXPECT_EQ(ClassifyMachFault(fault), FaultKind::kNone);
  EXPECT_FALSE(HasFaultAddress(fault));
}

}  // namespace
}  // namespace cairn::handlers
