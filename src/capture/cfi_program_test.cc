// SPDX-License-Identifier: Apache-2.0
//
// Programs assembled by hand; what they mean is DWARF 5 section 6.4.2.
#include "capture/cfi_program.h"

#include <gtest/gtest.h>

#include <optional>

#include "capture/fake_memory.h"

namespace cairn::capture {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kBegin = 0x400000;
constexpr uint64_t kFde = 0x9000;
constexpr uint64_t kInitialAt = 0x9100;
constexpr uint64_t kProgramAt = 0x9200;

// def_cfa r7, 8; offset r16 at cfa − 8
const Bytes kInitial = {0x0c, 7, 8, 0x80 | 16, 1};

std::optional<CfiRow> RowOf(const Bytes& program,
                            uint64_t offset = 0,
                            const Bytes& initial = kInitial) {
  FakeMemory memory;
  memory.Put(kInitialAt, initial);
  memory.Put(kProgramAt, program);
  CfiEntry entry = {};
  entry.begin = kBegin;
  entry.end = kBegin + 0x1000;
  entry.fde = kFde;
  entry.initial_program = kInitialAt;
  entry.initial_program_end = kInitialAt + initial.size();
  entry.program = kProgramAt;
  entry.program_end = kProgramAt + program.size();
  entry.code_align = 2;
  entry.data_align = -8;
  entry.pointer_encoding = 0;
  CfiRow row;
  if (!RunCfiProgram(memory.reader(), entry, kBegin + offset, 8, &row)) {
    return std::nullopt;
  }
  return row;
}

void ExpectRule(const std::optional<CfiRow>& row,
                int index,
                RegisterRule rule,
                int32_t value) {
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->rule[index], rule);
  EXPECT_EQ(row->value[index], value);
}

TEST(CfiProgram, InitialInstructionsAlone) {
  const auto row = RowOf({});
  ExpectRule(row, 16, RegisterRule::kOffset, -8);
  ExpectRule(row, 3, RegisterRule::kUnspecified, 0);
  EXPECT_EQ(row->cfa_rule, CfaRule::kRegisterOffset);
  EXPECT_EQ(row->cfa_register, 7);
  EXPECT_EQ(row->cfa_value, 8);
}

// Each advance form moves by delta × code alignment; the row at the target
// holds what stands before the first advance beyond it.
TEST(CfiProgram, AdvanceFormsScaleByCodeAlignment) {
  const std::vector<std::pair<Bytes, uint64_t>> forms = {
      {{0x40 | 5}, 10},
      {{0x02, 5}, 10},
      {{0x03, 0x05, 0x01}, 2 * 0x105},
      {{0x04, 0x05, 0x01, 0x00, 0x00}, 2 * 0x105},
      {{0x1d, 5, 0, 0, 0, 0, 0, 0, 0}, 10},
      // set_loc, absolute
      {{0x01, 0x0a, 0x00, 0x40, 0, 0, 0, 0, 0}, 10}};
  for (const auto& [advance, distance] : forms) {
    Bytes program = advance;
    program.insert(program.end(), {0x0e, 32});  // def_cfa_offset 32
    EXPECT_EQ(RowOf(program, distance - 1)->cfa_value, 8) << int{advance[0]};
    EXPECT_EQ(RowOf(program, distance)->cfa_value, 32) << int{advance[0]};
  }
}

TEST(CfiProgram, CfaForms) {
  EXPECT_EQ(RowOf({0x0c, 6, 16})->cfa_register, 6);  // def_cfa
  EXPECT_EQ(RowOf({0x0c, 6, 16})->cfa_value, 16);
  EXPECT_EQ(RowOf({0x12, 6, 0x7e})->cfa_value, 16);  // def_cfa_sf −2·−8
  EXPECT_EQ(RowOf({0x12, 6, 0x7e})->cfa_register, 6);
  EXPECT_EQ(RowOf({0x0d, 6})->cfa_register, 6);  // def_cfa_register
  EXPECT_EQ(RowOf({0x0d, 6})->cfa_value, 8);
  EXPECT_EQ(RowOf({0x0e, 0x90, 0x01})->cfa_value, 0x90);  // def_cfa_offset
  EXPECT_EQ(RowOf({0x13, 0x7d})->cfa_value, 24);          // def_cfa_offset_sf
  const auto row = RowOf({0x00, 0x0f, 2, 0x77, 0});       // def_cfa_expression
  EXPECT_EQ(row->cfa_rule, CfaRule::kExpression);
  EXPECT_EQ(row->cfa_value, int32_t{kProgramAt + 2 - kFde});
}

TEST(CfiProgram, RegisterForms) {
  ExpectRule(RowOf({0x80 | 6, 2}), 6, RegisterRule::kOffset, -16);
  ExpectRule(RowOf({0x05, 6, 2}), 6, RegisterRule::kOffset, -16);
  ExpectRule(RowOf({0x11, 6, 0x7e}), 6, RegisterRule::kOffset, 16);
  ExpectRule(RowOf({0x2f, 6, 2}), 6, RegisterRule::kOffset, 16);
  ExpectRule(RowOf({0x14, 6, 2}), 6, RegisterRule::kValueOffset, -16);
  ExpectRule(RowOf({0x15, 6, 0x7e}), 6, RegisterRule::kValueOffset, 16);
  ExpectRule(RowOf({0x07, 16}), 16, RegisterRule::kUndefined, 0);
  ExpectRule(RowOf({0x08, 6}), 6, RegisterRule::kSameValue, 0);
  ExpectRule(RowOf({0x09, 6, 10}), 6, RegisterRule::kRegister, 10);
  ExpectRule(RowOf({0x09, 6, 0x80, 0x01}), 6, RegisterRule::kUndefined, 0);
  ExpectRule(RowOf({0x10, 6, 1, 0x50}),
             6,
             RegisterRule::kExpression,
             int32_t{kProgramAt + 2 - kFde});
  ExpectRule(RowOf({0x16, 6, 1, 0x50}),
             6,
             RegisterRule::kValueExpression,
             int32_t{kProgramAt + 2 - kFde});
}

TEST(CfiProgram, RestoreGoesBackToTheInitialRule) {
  ExpectRule(RowOf({0x07, 16, 0xc0 | 16}), 16, RegisterRule::kOffset, -8);
  ExpectRule(RowOf({0x07, 16, 0x06, 16}), 16, RegisterRule::kOffset, -8);
  ExpectRule(RowOf({0x80 | 3, 2, 0xc0 | 3}), 3, RegisterRule::kUnspecified, 0);
}

TEST(CfiProgram, RememberedStatesNestAndCarryTheCfa) {
  const Bytes program = {0x0a,  // remember
                         0x0e,
                         48,  // cfa offset 48
                         0x80 | 3,
                         2,     // rbx saved
                         0x0a,  // remember
                         0x0e,
                         64,     //
                         0x0b,   // restore: 48
                         0x41,   // advance 2
                         0x0b};  // restore: 8
  EXPECT_EQ(RowOf(program, 0)->cfa_value, 48);
  ExpectRule(RowOf(program, 0), 3, RegisterRule::kOffset, -16);
  EXPECT_EQ(RowOf(program, 2)->cfa_value, 8);
  ExpectRule(RowOf(program, 2), 3, RegisterRule::kUnspecified, 0);
}

TEST(CfiProgram, OthersAreReadAndDropped) {
  EXPECT_EQ(RowOf({0x00, 0x2e, 0x80, 0x01, 0x0e, 24})->cfa_value, 24);
  EXPECT_TRUE(RowOf({0x2d})->return_address_signed);
  EXPECT_FALSE(RowOf({0x2d, 0x2d})->return_address_signed);
  EXPECT_TRUE(RowOf({0x2c})->return_address_signed);
  // Registers that are not carried (xmm on x86_64 lies above): no effect.
  EXPECT_EQ(RowOf({0x05, 0x60, 2, 0x0e, 24})->cfa_value, 24);
}

TEST(CfiProgram, MalformedProgramsFail) {
  EXPECT_FALSE(RowOf({0x0b}));            // nothing remembered
  EXPECT_FALSE(RowOf({0x17, 1}));         // unknown
  EXPECT_FALSE(RowOf({0x3f, 1}));         // vendor's own, unknown
  EXPECT_FALSE(RowOf({0x04, 1, 2}));      // cut
  EXPECT_FALSE(RowOf({0x0f, 200, 1}));    // expression beyond the end
  EXPECT_FALSE(RowOf({0x0c, 0x60, 8}));   // CFA in an unknown register
  EXPECT_FALSE(RowOf({}, 0, {}));         // no CFA rule
  EXPECT_FALSE(RowOf({0x0e, 8}, 0, {}));  // changes what is not there
  EXPECT_FALSE(RowOf({0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f}));  // too large
}

TEST(CfiProgram, DepthAndLengthAreBounded) {
  Bytes deep(kMaxRememberedStates, 0x0a);
  EXPECT_TRUE(RowOf(deep));
  deep.push_back(0x0a);
  EXPECT_FALSE(RowOf(deep));
  EXPECT_TRUE(RowOf(Bytes(kMaxCfiInstructions - 10, 0x00)));
  EXPECT_FALSE(RowOf(Bytes(kMaxCfiInstructions + 10, 0x00)));
}

TEST(CfiProgram, NothingBehindTheTargetMatters) {
  EXPECT_EQ(RowOf({0x42, 0x17}, 3)->cfa_value, 8);
  EXPECT_FALSE(RowOf({0x42, 0x17}, 4));
}

}  // namespace
}  // namespace cairn::capture
