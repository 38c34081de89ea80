// SPDX-License-Identifier: Apache-2.0
//
// Encodings as GNU as writes them (objdump -d of the same lines).
#include "capture/call_site.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "capture/fake_memory.h"

namespace cairn::capture {
namespace {

using Bytes = std::vector<uint8_t>;
using format::Architecture;

bool IsCall(const Bytes& bytes, Architecture architecture) {
  FakeMemory memory;
  memory.Put(0x1000, bytes);
  return IsBehindCall(memory.reader(), architecture, 0x1000 + bytes.size());
}

TEST(CallSite, EveryFormOfX86) {
  const std::vector<Bytes> calls = {
      {0xe8, 1, 2, 3, 4},              // call rel32
      {0x67, 0xe8, 1, 2, 3, 4},        // addr32 call
      {0xff, 0xd0},                    // call *%rax
      {0xff, 0xd7},                    // call *%rdi
      {0x41, 0xff, 0xd3},              // call *%r11
      {0x3e, 0xff, 0xd0},              // notrack call *%rax
      {0xff, 0x10},                    // call *(%rax)
      {0xff, 0x14, 0x24},              // call *(%rsp)
      {0x41, 0xff, 0x14, 0x24},        // call *(%r12)
      {0xff, 0x50, 0x18},              // call *0x18(%rax)
      {0xff, 0x54, 0x24, 0x08},        // call *8(%rsp)
      {0x41, 0xff, 0x54, 0xc4, 0x08},  // call *8(%r12,%rax,8)
      {0xff, 0x15, 1, 2, 3, 4},        // call *x(%rip)
      {0xff, 0x90, 0, 1, 0, 0},        // call *0x100(%rax)
      {0xff, 0x94, 0x24, 0, 1, 0, 0},  // call *0x100(%rsp)
      {0xff, 0x14, 0xc5, 0, 1, 0, 0},  // call *0x100(,%rax,8)
      {0x41, 0xff, 0x94, 0xc4, 0, 1, 0, 0}};
  for (const Bytes& call : calls) {
    EXPECT_TRUE(IsCall(call, Architecture::kX86_64))
        << testing::PrintToString(call);
    Bytes padded(9 + call.size(), 0x90);
    std::copy(call.begin(), call.end(), padded.begin() + 9);
    EXPECT_TRUE(IsCall(padded, Architecture::kX86_64));
    EXPECT_TRUE(IsCall(padded, Architecture::kI386));
  }
}

TEST(CallSite, OtherInstructionsOfX86AreNone) {
  const std::vector<Bytes> others = {{0xff, 0xe0},              // jmp *%rax
                                     {0xff, 0xc8},              // dec %eax
                                     {0xff, 0x18},              // lcall *(%rax)
                                     {0xff, 0x25, 1, 2, 3, 4},  // jmp *x(%rip)
                                     {0xe9, 1, 2, 3, 4},        // jmp
                                     {0xff, 0x14},              // cut
                                     {0xff, 0x15, 1, 2, 3},     // cut
                                     {0x90},
                                     {}};
  for (const Bytes& other : others) {
    EXPECT_FALSE(IsCall(other, Architecture::kX86_64))
        << testing::PrintToString(other);
  }
}

TEST(CallSite, Arm64) {
  EXPECT_TRUE(IsCall({0x01, 0x00, 0x00, 0x94}, Architecture::kArm64));  // bl
  EXPECT_TRUE(IsCall({0x00, 0x01, 0x3f, 0xd6}, Architecture::kArm64));  // blr
  EXPECT_TRUE(
      IsCall({0x1f, 0x09, 0x3f, 0xd6}, Architecture::kArm64));  // blraaz
  EXPECT_FALSE(IsCall({0x01, 0x00, 0x00, 0x14}, Architecture::kArm64));  // b
  EXPECT_FALSE(IsCall({0xc0, 0x03, 0x5f, 0xd6}, Architecture::kArm64));  // ret
}

TEST(CallSite, TargetDirectThroughSlotAndThroughJump) {
  FakeMemory memory;
  memory.Put(0x1000, {0x90, 0xe8, 0xfb, 0x0f, 0x00, 0x00});  // call 0x2001
  memory.Put(
      0x2001,
      {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xf5, 0x0f, 0, 0, 0x90, 0x90});
  memory.PutValue(0x3000, uint64_t{0x5000});
  memory.Put(0x4000, {0xff, 0x15, 0xfa, 0xef, 0xff, 0xff});  // call *0x3000
  memory.Put(0x6000, {0x90, 0x90, 0x90, 0x90, 0xff, 0xd0});
  const auto target = [&](uint64_t address) {
    return CalledAddress(memory.reader(), Architecture::kX86_64, address);
  };
  EXPECT_EQ(target(0x1006), 0x5000u);
  memory.Remove(0x3000);
  EXPECT_EQ(target(0x1006), 0x2001u);
  EXPECT_EQ(target(0x4006), 0u);
  memory.PutValue(0x3000, uint64_t{0x5000});
  EXPECT_EQ(target(0x4006), 0x5000u);
  EXPECT_EQ(target(0x6006), 0u);
  EXPECT_EQ(target(0x9000), 0u);
}

}  // namespace
}  // namespace cairn::capture
