// SPDX-License-Identifier: Apache-2.0
//
// The instructions are the assembler's; what each does with its registers is
// written beside it by hand, after the Intel manual.
#include "capture/faulting_operand.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

// Never run. Each label is one instruction.
__asm__(
    ".pushsection .text\n"
    "op_load: mov (%rdi), %eax\n"
    "op_load_high: mov 0x40(%r13), %rax\n"
    "op_sib: movzbl 0x123(%r12,%r9,4), %eax\n"
    "op_absolute_index: mov 0x1000(,%rcx,8), %rdx\n"
    "op_no_index: mov 0x8(%rsp), %rdx\n"
    "op_store_immediate: movl $0x11223344, -4(%rbx)\n"
    "op_fs: mov %fs:0x28(%rax), %rcx\n"
    "op_gs: mov %gs:(%rax), %rcx\n"
    "op_lea: lea (%rdi), %rax\n"
    "op_nop: nopl 0x0(%rdi)\n"
    "op_vex2: vmovups 0x20(%rdi), %xmm1\n"
    "op_vex3: vpbroadcastb (%r8), %ymm2\n"
    "op_evex: vmovups 0x40(%rdi), %zmm1\n"
    "op_sse_rip: paddd 0x10(%rip), %xmm0\n"
    "op_movaps: movaps (%rdi), %xmm0\n"
    "op_call_register: call *%r11\n"
    "op_jump_memory: jmp *(%rdi)\n"
    "op_ret: ret\n"
    "op_stos: rep stosb\n"
    "op_hlt: hlt\n"
    "op_cmpxchg: lock cmpxchg16b (%rdi)\n"
    "op_crc: crc32b (%rsi), %eax\n"
    ".popsection\n");

// clang-format off
#define CAIRN_OPS(V)                                                         \
  V(load)                                                                    \
  V(load_high)                                                               \
  V(sib) V(absolute_index) V(no_index) V(store_immediate) V(fs) V(gs) V(lea) \
      V(nop) V(vex2) V(vex3) V(evex) V(sse_rip) V(movaps) V(call_register)   \
          V(jump_memory) V(ret) V(stos) V(hlt) V(cmpxchg) V(crc)
// clang-format on
#define CAIRN_V(name) extern "C" const char op_##name[];
CAIRN_OPS(CAIRN_V)
#undef CAIRN_V

namespace cairn::capture {
namespace {

constexpr uint64_t kBad = 0x4141000000000000;
constexpr int kRax = 0, kRcx = 2, kRbx = 3, kRsi = 4, kRdi = 5, kRsp = 7;

class Operand : public testing::Test {
 protected:
  Operand() {
    registers_.architecture = format::Architecture::kX86_64;
    for (int i = 0; i < 17; ++i) {
      registers_.Set(i, reinterpret_cast<uint64_t>(room_) + 1024);
    }
  }
  FaultingOperand At(const char* code) {
    registers_.Set(16, reinterpret_cast<uint64_t>(code));
    return FindFaultingOperand(
        registers_, 0x2222000000000000, 0x3333000000000000, OwnMemory());
  }
  static safe::MemoryReader OwnMemory() {
    return {[](void*, uint64_t address, void* out, size_t bytes) {
              std::memcpy(out, reinterpret_cast<const void*>(address), bytes);
              return bytes;
            },
            nullptr};
  }
  void ExpectBad(const char* code, uint64_t address) {
    const FaultingOperand found = At(code);
    EXPECT_EQ(found.fault, OperandFault::kNonCanonical);
    EXPECT_TRUE(found.has_address);
    EXPECT_EQ(found.address, address);
  }

  alignas(64) uint64_t room_[512] = {};
  Registers registers_ = {};
};

TEST_F(Operand, BaseAndDisplacement) {
  registers_.Set(kRdi, kBad);
  ExpectBad(op_load, kBad);
  ExpectBad(op_stos, kBad);
  ExpectBad(op_cmpxchg, kBad);
  registers_.Set(13, kBad);
  ExpectBad(op_load_high, kBad + 0x40);
  registers_.Set(kRbx, kBad);
  ExpectBad(op_store_immediate, kBad - 4);
  registers_.Set(kRsi, kBad);
  ExpectBad(op_crc, kBad);
}

TEST_F(Operand, ScaledIndex) {
  registers_.Set(12, kBad);
  registers_.Set(9, 0x10);
  ExpectBad(op_sib, kBad + 0x40 + 0x123);
  registers_.Set(kRcx, 0x0842000000000000);
  ExpectBad(op_absolute_index, 0x4210000000001000);
  registers_.Set(kRsp, kBad);
  ExpectBad(op_no_index, kBad + 8);
}

TEST_F(Operand, SegmentBases) {
  registers_.Set(kRax, 0x10);
  ExpectBad(op_fs, 0x2222000000000038);
  ExpectBad(op_gs, 0x3333000000000010);
}

TEST_F(Operand, VectorPrefixes) {
  registers_.Set(kRdi, kBad);
  ExpectBad(op_vex2, kBad + 0x20);
  registers_.Set(8, kBad);
  ExpectBad(op_vex3, kBad);
  // The displacement counts in vectors of a length that is not worked out.
  const FaultingOperand found = At(op_evex);
  EXPECT_EQ(found.fault, OperandFault::kNonCanonical);
  EXPECT_FALSE(found.has_address);
}

TEST_F(Operand, Targets) {
  registers_.Set(11, kBad);
  ExpectBad(op_call_register, kBad);
  room_[0] = kBad + 1;
  registers_.Set(kRdi, reinterpret_cast<uint64_t>(room_));
  ExpectBad(op_jump_memory, kBad + 1);
  registers_.Set(kRsp, reinterpret_cast<uint64_t>(room_));
  ExpectBad(op_ret, kBad + 1);
}

TEST_F(Operand, ProgramCounterItself) {
  ExpectBad(reinterpret_cast<const char*>(kBad), kBad);
}

TEST_F(Operand, MisalignedVector) {
  registers_.Set(kRdi, reinterpret_cast<uint64_t>(room_) + 4);
  const FaultingOperand found = At(op_movaps);
  EXPECT_EQ(found.fault, OperandFault::kMisaligned);
  EXPECT_EQ(found.address, reinterpret_cast<uint64_t>(room_) + 4);
  const FaultingOperand relative = At(op_sse_rip);
  const uint64_t expected = reinterpret_cast<uint64_t>(op_movaps) + 0x10;
  if (expected % 16 != 0) {
    EXPECT_EQ(relative.fault, OperandFault::kMisaligned);
    EXPECT_EQ(relative.address, expected);
  }
}

TEST_F(Operand, InstructionsThatTouchNoMemory) {
  registers_.Set(kRdi, kBad);
  EXPECT_EQ(At(op_lea).fault, OperandFault::kNone);
  EXPECT_EQ(At(op_nop).fault, OperandFault::kNone);
  registers_.Set(kRdi, reinterpret_cast<uint64_t>(room_));
  EXPECT_EQ(At(op_hlt).fault, OperandFault::kNone);
  EXPECT_EQ(At(op_load).fault, OperandFault::kNone);
}

}  // namespace
}  // namespace cairn::capture
