// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <gtest/gtest.h>
#include <rapidjson/reader.h>

#include <algorithm>

#include "report/reader.h"
#include "samples/samples.h"

namespace cairn::report {
namespace {

Report Read(const std::vector<uint8_t>& bytes) {
  return ReadReport(bytes.data(), bytes.size()).report;
}

bool IsValidJson(const std::string& text) {
  rapidjson::Reader reader;
  rapidjson::BaseReaderHandler<> handler;
  rapidjson::StringStream stream(text.c_str());
  return !reader.Parse<rapidjson::kParseValidateEncodingFlag>(stream, handler)
              .IsError();
}

// JSON with its quotes written as apostrophes, to be readable in C++.
std::string Quoted(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

size_t Find(const std::string& json, const std::string& part) {
  return json.find(Quoted(part));
}

bool Has(const std::string& json, const std::string& part) {
  return Find(json, part) != std::string::npos;
}

TEST(Json, SimpleSampleInWords) {
  const std::string json = ToJson(Read(samples::Simple()));
  EXPECT_TRUE(IsValidJson(json));
  EXPECT_TRUE(Has(json,
                  "{'format':1,'uuid':'01122334-4556-4778-899a-abbccddeef00',"
                  "'time':'2026-01-01T00:04:05.123Z','complete':true,"
                  "'kind':'crash'"))
      << json.substr(0, 300);
  EXPECT_TRUE(Has(json,
                  "'signal':{'name':'SIGSEGV','number':11,'code':1,"
                  "'code_name':'SEGV_MAPERR'"));
  EXPECT_TRUE(Has(json, "'fault_kind':'null_page'"));
  EXPECT_TRUE(Has(json, "'rip':'0x555555555149'"));
  EXPECT_TRUE(Has(json, "'id':'101112131415161718191a1b1c1d1e1f20212223'"));
}

TEST(Json, FrameHasAddressModuleAndSource) {
  const std::string json = ToJson(Read(samples::Simple()));
  EXPECT_TRUE(
      Has(json,
          "{'address':'0x555555555149','kind':'fault','trust':'context',"
          "'function':'crash_here(int*)','function_mangled':'_Z10crash_herePi',"
          "'offset':16,'name_sure':true,'module':'shop',"
          "'module_path':'/opt/shop/bin/shop','module_offset':'0x1149',"
          "'file':'/src/shop/main.cc','line':12,'column':10,'inlined':false}"));
}

TEST(Json, InlinedCallIsAFrameOfItsOwnBeforeItsHolder) {
  const std::string json = ToJson(Read(samples::Rich()));
  EXPECT_TRUE(IsValidJson(json));
  const size_t inlined = Find(json, "'function':'player::Bits::Next()'");
  const size_t holder = Find(json, "'function':'player::Decoder::Step()'");
  ASSERT_NE(inlined, std::string::npos);
  ASSERT_NE(holder, std::string::npos);
  EXPECT_LT(inlined, holder);
  EXPECT_TRUE(Has(json, "'line':44,'column':12,'inlined':true}"));
  EXPECT_TRUE(Has(json, "'type':'player::DecodeError'"));
}

TEST(Json, RawLeavesNamesOut) {
  const std::string json = ToJson(Read(samples::Simple()), {.raw = true});
  EXPECT_FALSE(Has(json, "crash_here"));
  EXPECT_TRUE(Has(json, "'module_offset':'0x1149'"));
}

TEST(Json, BadUtf8AndControlsAreValidJson) {
  Report report;
  report.message = "\xff\xfe\x01\"\\\n\xed\xa0\x80";
  report.keys = {{"a\xc0", "1"}, {"a\xc0", "2"}};
  report.process.args = {std::string("a\0b", 3)};
  for (const bool pretty : {false, true}) {
    const std::string json = ToJson(report, {.pretty = pretty});
    EXPECT_TRUE(IsValidJson(json)) << json;
    EXPECT_TRUE(Has(json, "\xef\xbf\xbd"));
  }
  EXPECT_TRUE(Has(ToJson(report), "'keys':{'a\xef\xbf\xbd':'2'}"));
}

TEST(Json, EmptyReportHasFormatCompleteAndThreads) {
  const std::string json = ToJson(Report{});
  EXPECT_TRUE(Has(json, "'format':0"));
  EXPECT_TRUE(Has(json, "'complete':false"));
  EXPECT_TRUE(Has(json, "'threads':[]"));
}

TEST(Json, MembersAreTheObjectWithoutBraces) {
  const Report report = Read(samples::Simple());
  EXPECT_EQ("{" + ToJsonMembers(report) + "}", ToJson(report));
}

}  // namespace
}  // namespace cairn::report
