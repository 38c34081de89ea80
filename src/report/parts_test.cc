// SPDX-License-Identifier: Apache-2.0
//
// The reader's small parts: UTF-8, uuids, register chain, type names, times.
#include <gtest/gtest.h>

#include <typeinfo>

#include "report/field_table.h"
#include "report/register_chain.h"
#include "report/report.h"
#include "report/time_text.h"
#include "report/type_name.h"
#include "report/utf8.h"
#include "samples/sample_file.h"

namespace cairn::report {
namespace {

constexpr char kMended[] = "\xef\xbf\xbd";

TEST(Utf8, WellFormedTextStays) {
  for (const std::string text :
       {"", "a", "é", "€", "😀", "\u07ff\u0800\uffff\U00010000\U0010ffff"}) {
    EXPECT_EQ(MendUtf8(text), text);
  }
}

// Unicode 15, section 3.9, table 3-8 and its neighbours.
TEST(Utf8, EachByteOfAnIllFormedSequenceIsReplaced) {
  for (const std::string bad : {"\x80",
                                "\xc0\x80",
                                "\xc1\xbf",
                                "\xe0\x9f\xbf",
                                "\xed\xa0\x80",
                                "\xf0\x8f\xbf\xbf",
                                "\xf4\x90\x80\x80",
                                "\xf5\x80\x80\x80",
                                "\xff",
                                "\xe2\x82",
                                "\xf0\x9f\x98"}) {
    std::string expected = "x";
    for (size_t i = 0; i < bad.size(); ++i) {
      expected += kMended;
    }
    EXPECT_EQ(MendUtf8("x" + bad + "y"), expected + "y");
  }
}

TEST(UuidText, IsParsedBack) {
  const std::string text = "01122334-4556-4778-899a-abbccddeef00";
  const std::optional<Uuid> uuid = ParseUuid(text);
  ASSERT_TRUE(uuid);
  EXPECT_EQ((*uuid)[0], 0x01);
  EXPECT_EQ((*uuid)[15], 0x00);
  EXPECT_EQ(UuidText(*uuid), text);
  EXPECT_EQ(ParseUuid("01122334-4556-4778-899A-ABBCCDDEEF00"), uuid);
}

TEST(UuidText, OtherTextsAreRefused) {
  for (const char* text : {"",
                           "01122334",
                           "01122334-4556-4778-899a-abbccddeef0",
                           "01122334-4556-4778-899a-abbccddeef000",
                           "01122334x4556-4778-899a-abbccddeef00",
                           "0112233g-4556-4778-899a-abbccddeef00",
                           "-0112233-4556-4778-899a-abbccddeef00",
                           "../../../../../../../../../etc/passwd"}) {
    EXPECT_FALSE(ParseUuid(text)) << text;
  }
}

TEST(RegisterChain, ARegisterThatAThreadLacksKeepsItsValue) {
  using List = std::vector<std::pair<uint32_t, uint64_t>>;
  std::vector<uint64_t> previous;
  RegisterChain chain;
  const auto next =
      [&](std::initializer_list<std::pair<unsigned, uint64_t>> values) {
        const samples::Packed packed = samples::Registers(values, &previous);
        List registers;
        EXPECT_TRUE(chain.Next(
            packed.bytes().data(), packed.bytes().size(), &registers));
        return registers;
      };
  EXPECT_EQ(next({{0, 10}, {7, ~uint64_t{0}}}),
            (List{{0, 10}, {7, ~uint64_t{0}}}));
  EXPECT_EQ(next({{0, 11}}), (List{{0, 11}}));
  // Register 7 differs from the first thread's, not from zero; it wraps.
  EXPECT_EQ(next({{0, 0}, {7, 5}}), (List{{0, 0}, {7, 5}}));
  EXPECT_EQ(next({{7, uint64_t{1} << 63}}), (List{{7, uint64_t{1} << 63}}));
}

TEST(RegisterChain, CutPayloadKeepsWhatCameBefore) {
  RegisterChain chain;
  std::vector<std::pair<uint32_t, uint64_t>> registers;
  const uint8_t cut[] = {3, 3, 2};  // two registers, one difference
  EXPECT_FALSE(chain.Next(cut, sizeof(cut), &registers));
  EXPECT_EQ(registers.size(), 1u);
  EXPECT_FALSE(chain.Next(nullptr, 0, &registers));
}

TEST(TypeName, IsWhatTheSourceSays) {
  EXPECT_EQ(TypeName(typeid(std::runtime_error).name()), "std::runtime_error");
  EXPECT_EQ(TypeName(typeid(int).name()), "int");
  EXPECT_EQ(TypeName("N6player11DecodeErrorE"), "player::DecodeError");
  EXPECT_EQ(TypeName("not a type"), "not a type");
  EXPECT_EQ(TypeName(""), "");
}

// Each reference to what came before doubles the text: 2^60 bytes.
TEST(TypeName, ExplodingNamesStayMangled) {
  std::string name = "St4pairIiiE";
  for (int i = 0; i < 60; ++i) {
    name = "St4pairI" + name + "S" + (i == 0 ? "" : std::string(1, 'A')) + "_E";
  }
  EXPECT_EQ(TypeName(name), name);
  EXPECT_EQ(TypeName(std::string(100000, 'P')), std::string(100000, 'P'));
}

TEST(TimeText, IsRfc3339InUtc) {
  EXPECT_EQ(Rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(Rfc3339(951782400123456789), "2000-02-29T00:00:00.123Z");
  EXPECT_EQ(Rfc3339(~uint64_t{0}), "2554-07-21T23:34:33.709Z");
}

TEST(FieldTable, FindsEachFieldAndNoOther) {
  size_t found = 0;
  for (unsigned id = 0; id <= 0xffff; ++id) {
    found += FindField(static_cast<uint16_t>(id)) != nullptr ? 1 : 0;
  }
  EXPECT_EQ(found, AllFields().size());
  EXPECT_EQ(FindField(0), nullptr);
  EXPECT_STREQ(FindField(146)->name, "ThreadName");
}

}  // namespace
}  // namespace cairn::report
