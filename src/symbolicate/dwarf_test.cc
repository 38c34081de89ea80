// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "symbolicate/dwarf_cursor.h"
#include "symbolicate/dwarf_file.h"
#include "symbolicate/range_index.h"

namespace cairn::symbolicate {
namespace {

TEST(RangeIndex, FindsTheInnermostAndNothingInGaps) {
  RangeIndex index;
  index.Add(100, 200, 1);
  index.Add(120, 140, 2);
  index.Add(120, 140, 3);
  index.Add(300, 300, 4);  // A7.11: an empty range holds nothing
  index.Finish();
  EXPECT_EQ(index.Find(99), nullptr);
  EXPECT_EQ(index.Find(100)->value, 1u);
  EXPECT_EQ(index.Find(120)->value, 3u);
  EXPECT_EQ(index.Find(140)->value, 1u);
  EXPECT_EQ(index.Find(200), nullptr);
  EXPECT_EQ(index.Find(300), nullptr);
}

// Examples of the DWARF 5 specification, appendix C.
TEST(DwarfCursor, ReadsLeb128) {
  const uint8_t bytes[] = {
      0x02, 0x7f, 0x80, 0x01, 0xb9, 0x64, 0x7e, 0xff, 0x00, 0x80, 0x7f};
  DwarfCursor in(bytes, sizeof(bytes));
  EXPECT_EQ(in.Uleb(), 2u);
  EXPECT_EQ(in.Uleb(), 127u);
  EXPECT_EQ(in.Uleb(), 128u);
  EXPECT_EQ(in.Uleb(), 12857u);
  EXPECT_EQ(in.Sleb(), -2);
  EXPECT_EQ(in.Sleb(), 127);
  EXPECT_EQ(in.Sleb(), -128);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.U32(), 0u);
  EXPECT_FALSE(in.ok());
}

class Sections : public DebugSections {
 public:
  std::map<std::string, std::vector<uint8_t>, std::less<>> bytes;
  std::shared_ptr<const ByteSource> Find(std::string_view name) const override {
    const auto found = bytes.find(name);
    return found == bytes.end() ? nullptr : MemorySource(found->second);
  }
  int address_bytes() const override { return 8; }
  bool IsCode(uint64_t address) const override { return address >= 0x1000; }
};

// One version 4 unit at 0x1000..0x1100: a function whose origin is itself.
std::shared_ptr<Sections> CyclicOrigin() {
  auto sections = std::make_shared<Sections>();
  sections->bytes[".debug_abbrev"] = {
      1, 0x11, 1, 0x11, 0x01, 0x12, 0x06, 0,    0,           // unit
      2, 0x2e, 0, 0x11, 0x01, 0x12, 0x06, 0x31, 0x13, 0, 0,  // function
      0};
  std::vector<uint8_t> info = {0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8};
  const std::vector<uint8_t> code = {0, 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0};
  info.push_back(1);
  info.insert(info.end(), code.begin(), code.end());
  const auto function = static_cast<uint8_t>(info.size());
  info.push_back(2);
  info.insert(info.end(), code.begin(), code.end());
  info.insert(info.end(), {function, 0, 0, 0, 0});
  info[0] = static_cast<uint8_t>(info.size() - 4);
  sections->bytes[".debug_info"] = info;
  return sections;
}

TEST(DwarfFile, EndsOnARingOfOrigins) {
  DwarfFile file(CyclicOrigin(), nullptr, {});
  const auto frames = file.Find(0x1010);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "");
  EXPECT_TRUE(file.Find(0x1100).empty());
}

// A7.10: what a linker dropped is left at 0; it covers nothing.
TEST(DwarfFile, A7_10_IgnoresFunctionsOutsideCode) {
  auto sections = CyclicOrigin();
  auto& info = sections->bytes[".debug_info"];
  info[13] = info[26] = 0;  // 0x1000 becomes 0
  info[21] = info[34] = 0x20;
  DwarfFile file(sections, nullptr, {});
  EXPECT_TRUE(file.Find(0x1010).empty());
}

// Each byte cut off and each byte changed: answers may differ, nothing more.
TEST(DwarfFile, SurvivesEveryCutAndFlip) {
  const auto whole = CyclicOrigin();
  for (const auto& [name, bytes] : whole->bytes) {
    for (size_t at = 0; at < bytes.size(); ++at) {
      auto cut = std::make_shared<Sections>(*whole);
      cut->bytes[name].resize(at);
      DwarfFile(cut, nullptr, {}).Find(0x1010);
      auto flipped = std::make_shared<Sections>(*whole);
      flipped->bytes[name][at] ^= 0xff;
      DwarfFile(flipped, nullptr, {}).Find(0x1010);
    }
  }
}

}  // namespace
}  // namespace cairn::symbolicate
