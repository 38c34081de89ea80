// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/demangle.h"

#include <gtest/gtest.h>

#include "symbolicate/testdata/tools.h"

namespace cairn::symbolicate {
namespace {

TEST(Demangle, CxxNamesAsCxxfiltPrintsThem) {
  for (const char* name :
       {"_ZN5outer3RunEi",
        "_ZNK5outer6WidgetclEi",
        "_ZN5outer8TemplateIlLi5EE6MethodElPKc",
        "_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJRKiEEEvN9__gnu_cxx17__"
        "normal_iteratorIPiS1_EEDpOT_"}) {
    std::string expected = Output(std::string("c++filt ") + name);
    expected.pop_back();  // the newline
    EXPECT_EQ(Demangle(name), expected);
  }
}

TEST(Demangle, A7_15_NamesOfOtherLanguagesStay) {
  // "i" and "f" would be types, "_RNv…" is Rust's v0 scheme.
  for (const char* name : {"",
                           "i",
                           "f",
                           "main",
                           "_Z",
                           "Z3foov",
                           "_start",
                           "$s4main3fooyyF",
                           "_RNvC7mycrate3foo",
                           "?foo@@YAXXZ"}) {
    EXPECT_EQ(Demangle(name), name);
  }
}

TEST(Demangle, RustLegacyLosesItsHashAndEscapes) {
  EXPECT_EQ(Demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt");
  EXPECT_EQ(Demangle("_ZN71_$LT$Test$u20$as$u20$std..fmt..Display$GT$"
                     "$RF$$u20$Test$GT$$GT$$GT$$GT$$GT$$GT$$GT$3fmt"
                     "17h0123456789abcdefE")
                .rfind("_ZN71", 0),
            0u)
      << "a wrong length stays mangled";
  EXPECT_EQ(Demangle("_ZN45_$LT$Test$u20$as$u20$std..fmt..Display$GT$3fmt"
                     "17h0123456789abcdefE")
                .rfind("<Test as std::fmt::Display>", 0),
            std::string::npos)
      << "45 bytes run into the next component";
  EXPECT_EQ(Demangle("_ZN42_$LT$Test$u20$as$u20$std..fmt..Display$GT$3fmt"
                     "17h0123456789abcdefE"),
            "<Test as std::fmt::Display>::fmt");
  // Not a hash: 15 digits.
  EXPECT_EQ(Demangle("_ZN3foo16h0123456789abcdeE"), "foo::h0123456789abcde");
}

// Each level repeats the one before twice: 2^40 characters if it were printed.
TEST(Demangle, A7_14_GrowingNameStaysMangled) {
  std::string name = "_Z1f1a";
  std::string before = "S_";
  for (int level = 0; level < 40; ++level) {
    name += "1bI" + before + before + "E";
    before = "S" + std::string(1, static_cast<char>('0' + level % 10)) + "_";
  }
  EXPECT_EQ(Demangle(name), name);
}

TEST(Demangle, A7_14_DeepNameReturns) {
  const std::string deep = "_Z1f" + std::string(4000, 'P') + "i";
  const std::string longer = "_Z1f" + std::string(100000, 'P') + "i";
  EXPECT_FALSE(Demangle(deep).empty());
  EXPECT_EQ(Demangle(longer), longer);
  EXPECT_FALSE(Demangle("_Z" + std::string(4000, 'N')).empty());
}

}  // namespace
}  // namespace cairn::symbolicate
