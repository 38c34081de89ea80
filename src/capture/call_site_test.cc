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

// Bit 0 of the address tells Thumb code, whose instructions have 2 or 4 bytes.
TEST(CallSite, EveryFormOfArm) {
  FakeMemory memory;
  memory.Put(0x1000, {0xff, 0xf7, 0xd9, 0xff,    // 1000: bl (Thumb)
                      0xff, 0xf7, 0xd8, 0xef,    // 1004: blx (Thumb)
                      0xa0, 0x47, 0x20, 0x46,    // 1008: blx r4; mov r0, r4
                      0x10, 0x00, 0x00, 0xeb,    // 100c: bl
                      0x10, 0x00, 0x00, 0x0b,    // 1010: bleq
                      0x10, 0x00, 0x00, 0xfa,    // 1014: blx
                      0x34, 0xff, 0x2f, 0xe1,    // 1018: blx r4
                      0x14, 0xff, 0x2f, 0xe1,    // 101c: bx r4
                      0x10, 0x00, 0x00, 0xea});  // 1020: b
  const auto is_call = [&](uint64_t address) {
    return IsBehindCall(memory.reader(), Architecture::kArm, address);
  };
  for (const uint64_t address :
       {0x1005, 0x1009, 0x100b, 0x1010, 0x1014, 0x1018, 0x101c}) {
    EXPECT_TRUE(is_call(address)) << std::hex << address;
  }
  for (const uint64_t address : {0x100d, 0x1020, 0x1024, 0x1000, 0x1}) {
    EXPECT_FALSE(is_call(address)) << std::hex << address;
  }
}

TEST(CallSite, Arm64CalledAddressThroughAStub) {
  FakeMemory memory;
  memory.Put(0x100000904, {0xc6, 0xff, 0xff, 0x97});  // bl 0x10000081c
  EXPECT_EQ(CalledAddress(memory.reader(), Architecture::kArm64, 0x100000908),
            0x10000081cu);
  // A stub of __stubs: adrp x16, +1 page; ldr x16, [x16, #8]; br x16.
  memory.Put(
      0x10000081c,
      {0x10, 0x00, 0x00, 0xb0, 0x10, 0x06, 0x40, 0xf9, 0x00, 0x02, 0x1f, 0xd6});
  EXPECT_EQ(CalledAddress(memory.reader(), Architecture::kArm64, 0x100000908),
            0x10000081cu);  // its slot cannot be read
  memory.PutValue(0x100001008, uint64_t{0x1800000000});
  EXPECT_EQ(CalledAddress(memory.reader(), Architecture::kArm64, 0x100000908),
            0x1800000000u);
}

}  // namespace
}  // namespace cairn::capture
