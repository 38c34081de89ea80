// SPDX-License-Identifier: Apache-2.0
//
// What operations do is DWARF 5 section 2.5.
#include "capture/cfi_expression.h"

#include <gtest/gtest.h>

#include <optional>

#include "capture/fake_memory.h"

namespace cairn::capture {
namespace {

using Bytes = std::vector<uint8_t>;
using format::Architecture;

std::optional<uint64_t> Evaluate(
    const Bytes& bytes,
    std::optional<uint64_t> first = std::nullopt,
    Architecture architecture = Architecture::kX86_64) {
  FakeMemory memory;
  memory.Put(0x1000, bytes);
  memory.PutValue(0x7000, uint64_t{0x1122334455667788});
  Registers registers = {};
  registers.architecture = architecture;
  registers.Set(6, 0x6000);
  registers.Set(7, 0x7000);
  registers.Set(38, 0x3800);
  uint64_t result = 0;
  const ExpressionInput input = {memory.reader(),
                                 memory.reader(),
                                 &registers,
                                 0x1000,
                                 bytes.size(),
                                 first.has_value(),
                                 first.value_or(0)};
  if (!EvaluateExpression(input, &result)) {
    return std::nullopt;
  }
  return result;
}

constexpr uint64_t Negative(int64_t value) {
  return static_cast<uint64_t>(value);
}

TEST(CfiExpression, Constants) {
  EXPECT_EQ(Evaluate({0x30}), 0u);
  EXPECT_EQ(Evaluate({0x4f}), 31u);
  EXPECT_EQ(Evaluate({0x03, 1, 2, 3, 4, 5, 6, 7, 8}), 0x0807060504030201u);
  EXPECT_EQ(Evaluate({0x08, 0xff}), 255u);
  EXPECT_EQ(Evaluate({0x09, 0xff}), Negative(-1));
  EXPECT_EQ(Evaluate({0x0a, 0xfe, 0xff}), 0xfffeu);
  EXPECT_EQ(Evaluate({0x0b, 0xfe, 0xff}), Negative(-2));
  EXPECT_EQ(Evaluate({0x0c, 0xfe, 0xff, 0xff, 0xff}), 0xfffffffeu);
  EXPECT_EQ(Evaluate({0x0d, 0xfe, 0xff, 0xff, 0xff}), Negative(-2));
  EXPECT_EQ(Evaluate({0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80}), 0x8000000000000001u);
  EXPECT_EQ(Evaluate({0x0f, 1, 0, 0, 0, 0, 0, 0, 0x80}), 0x8000000000000001u);
  EXPECT_EQ(Evaluate({0x10, 0x80, 0x01}), 128u);
  EXPECT_EQ(Evaluate({0x11, 0x7f}), Negative(-1));
}

TEST(CfiExpression, A3_33_RegistersWithSignedOffsets) {
  EXPECT_EQ(Evaluate({0x77, 8}), 0x7008u);
  EXPECT_EQ(Evaluate({0x77, 0x78}), 0x7000u - 8);
  EXPECT_EQ(Evaluate({0x92, 38, 0x7f}), 0x37ffu);
  EXPECT_EQ(Evaluate({0x73, 0}), std::nullopt);        // not known
  EXPECT_EQ(Evaluate({0x92, 0x60, 0}), std::nullopt);  // not carried
}

TEST(CfiExpression, StackOperations) {
  EXPECT_EQ(Evaluate({0x31, 0x32, 0x12, 0x22}), 4u);               // dup
  EXPECT_EQ(Evaluate({0x31, 0x32, 0x13}), 1u);                     // drop
  EXPECT_EQ(Evaluate({0x31, 0x32, 0x14}), 1u);                     // over
  EXPECT_EQ(Evaluate({0x31, 0x32, 0x33, 0x15, 2}), 1u);            // pick
  EXPECT_EQ(Evaluate({0x35, 0x32, 0x16, 0x1c}), Negative(2 - 5));  // swap
  // rot: 1 2 3 (top) → 3 1 2
  EXPECT_EQ(Evaluate({0x31, 0x32, 0x33, 0x17}), 2u);
  EXPECT_EQ(Evaluate({0x31, 0x32, 0x33, 0x17, 0x13}), 1u);
  EXPECT_EQ(Evaluate({0x31, 0x32, 0x33, 0x17, 0x13, 0x13}), 3u);
}

TEST(CfiExpression, Memory) {
  EXPECT_EQ(Evaluate({0x77, 0, 0x06}), 0x1122334455667788u);
  EXPECT_EQ(Evaluate({0x77, 0, 0x94, 2}), 0x7788u);
  EXPECT_EQ(Evaluate({0x77, 0, 0x94, 9}), std::nullopt);
  EXPECT_EQ(Evaluate({0x77, 4, 0x06}), std::nullopt);  // runs off the end
}

TEST(CfiExpression, Arithmetic) {
  EXPECT_EQ(Evaluate({0x09, 0xfd, 0x19}), 3u);                  // abs
  EXPECT_EQ(Evaluate({0x36, 0x33, 0x1a}), 2u);                  // and
  EXPECT_EQ(Evaluate({0x09, 0xf9, 0x32, 0x1b}), Negative(-3));  // div
  EXPECT_EQ(Evaluate({0x32, 0x35, 0x1c}), Negative(-3));        // minus
  EXPECT_EQ(Evaluate({0x37, 0x34, 0x1d}), 3u);                  // mod
  EXPECT_EQ(Evaluate({0x37, 0x34, 0x1e}), 28u);                 // mul
  EXPECT_EQ(Evaluate({0x35, 0x1f}), Negative(-5));              // neg
  EXPECT_EQ(Evaluate({0x35, 0x20}), ~uint64_t{5});              // not
  EXPECT_EQ(Evaluate({0x35, 0x32, 0x21}), 7u);                  // or
  EXPECT_EQ(Evaluate({0x35, 0x23, 0x80, 0x01}), 133u);          // plus_uconst
  EXPECT_EQ(Evaluate({0x31, 0x34, 0x24}), 16u);                 // shl
  EXPECT_EQ(Evaluate({0x09, 0xf0, 0x34, 0x25}), ~uint64_t{0} >> 4);  // shr
  EXPECT_EQ(Evaluate({0x09, 0xf0, 0x34, 0x26}), Negative(-1));       // shra
  EXPECT_EQ(Evaluate({0x35, 0x31, 0x27}), 4u);                       // xor
  EXPECT_EQ(Evaluate({0x31, 0x30, 0x1b}), std::nullopt);             // by zero
  EXPECT_EQ(Evaluate({0x31, 0x30, 0x1d}), std::nullopt);
  // The least value by −1, and shifts by more than the width.
  EXPECT_EQ(Evaluate({0x31, 0x08, 63, 0x24, 0x09, 0xff, 0x1b}),
            uint64_t{1} << 63);
  EXPECT_EQ(Evaluate({0x31, 0x08, 64, 0x24}), 0u);
  EXPECT_EQ(Evaluate({0x31, 0x08, 64, 0x25}), 0u);
}

TEST(CfiExpression, ComparisonsAreSigned) {
  const Bytes minus_one_and_one = {0x09, 0xff, 0x31};
  const std::vector<std::pair<uint8_t, uint64_t>> expected = {
      {0x29, 0}, {0x2a, 0}, {0x2b, 0}, {0x2c, 1}, {0x2d, 1}, {0x2e, 1}};
  for (const auto& [operation, result] : expected) {
    Bytes bytes = minus_one_and_one;
    bytes.push_back(operation);
    EXPECT_EQ(Evaluate(bytes), result) << int{operation};
  }
}

TEST(CfiExpression, BranchesStayInside) {
  EXPECT_EQ(Evaluate({0x2f, 1, 0, 0x31, 0x32}), 2u);        // skip
  EXPECT_EQ(Evaluate({0x31, 0x28, 1, 0, 0x33, 0x35}), 5u);  // bra taken
  EXPECT_EQ(Evaluate({0x34, 0x30, 0x28, 1, 0, 0x33}), 3u);  // not taken
  EXPECT_EQ(Evaluate({0x31, 0x2f, 0, 0}), 1u);              // to the end
  EXPECT_EQ(Evaluate({0x31, 0x2f, 1, 0}), std::nullopt);    // beyond it
  EXPECT_EQ(Evaluate({0x31, 0x2f, 0xf0, 0xff}), std::nullopt);
}

TEST(CfiExpression, A4_6_EndlessAndDeepOnesStop) {
  EXPECT_EQ(Evaluate({0x31, 0x2f, 0xfd, 0xff}), std::nullopt);
  EXPECT_EQ(Evaluate(Bytes(32, 0x31)), 1u);
  EXPECT_EQ(Evaluate(Bytes(33, 0x31)), std::nullopt);
}

TEST(CfiExpression, FirstValueIsOnTheStack) {
  EXPECT_EQ(Evaluate({0x38, 0x1c}, 0x100), 0xf8u);
}

TEST(CfiExpression, MalformedOnesFail) {
  EXPECT_EQ(Evaluate({}), std::nullopt);
  EXPECT_EQ(Evaluate({0x22}), std::nullopt);  // nothing to add
  EXPECT_EQ(Evaluate({0x08}), std::nullopt);  // cut
  EXPECT_EQ(Evaluate({0x97}), std::nullopt);  // push_object_address
  EXPECT_EQ(Evaluate({0x31, 0x15, 9}), std::nullopt);
  EXPECT_EQ(Evaluate({0x31, 0x16}), std::nullopt);
}

TEST(CfiExpression, ThirtyTwoBitTargetsWrap) {
  EXPECT_EQ(Evaluate({0x31, 0x32, 0x1c}, std::nullopt, Architecture::kI386),
            0xffffffffu);
  EXPECT_EQ(Evaluate({0x77, 0, 0x06}, std::nullopt, Architecture::kI386),
            0x55667788u);
  EXPECT_EQ(Evaluate({0x03, 1, 2, 3, 4}, std::nullopt, Architecture::kI386),
            0x04030201u);
}

// The PLT's CFA in every file that binutils made:
// rsp + 8 + ((rip & 15) >= 11) << 3
TEST(CfiExpression, TheProcedureLinkageTable) {
  FakeMemory memory;
  const Bytes bytes = {
      0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  memory.Put(0x1000, bytes);
  for (uint64_t offset = 0; offset < 16; ++offset) {
    Registers registers = {};
    registers.architecture = Architecture::kX86_64;
    registers.Set(7, 0x7000);
    registers.Set(16, 0x401020 + offset);
    uint64_t result = 0;
    ASSERT_TRUE(EvaluateExpression({memory.reader(),
                                    memory.reader(),
                                    &registers,
                                    0x1000,
                                    bytes.size(),
                                    false,
                                    0},
                                   &result));
    EXPECT_EQ(result, offset >= 11 ? 0x7010u : 0x7008u);
  }
}

}  // namespace
}  // namespace cairn::capture
