// SPDX-License-Identifier: Apache-2.0
//
// Left: what c++filt, llvm-cxxfilt and rustfilt print. Fault A9.7.
#include "report/function_name.h"

#include <gtest/gtest.h>

namespace cairn::report {
namespace {

struct Case {
  const char* name;
  const char* normal;
};

class FunctionName : public testing::TestWithParam<Case> {};

TEST_P(FunctionName, BecomesWhatStaysTheSame) {
  EXPECT_EQ(NormalizeFunction(GetParam().name), GetParam().normal);
}

INSTANTIATE_TEST_SUITE_P(
    C,
    FunctionName,
    testing::Values(Case{"main", "main"},
                    Case{"memcpy@@GLIBC_2.14", "memcpy"},
                    Case{"puts@plt", "puts"},
                    Case{"parse_header.cold", "parse_header"},
                    Case{"parse_header.part.0.cold.17", "parse_header"},
                    Case{"f.constprop.0.isra.2", "f"},
                    Case{"run.llvm.1234567890", "run"},
                    Case{"__memcpy_avx_unaligned_erms",
                         "__memcpy_avx_unaligned_erms"}));

INSTANTIATE_TEST_SUITE_P(
    Cpp,
    FunctionName,
    testing::Values(
        Case{"crash_here(int*)", "crash_here"},
        Case{"foo(int) [clone .cold]", "foo"},
        Case{"foo(int) [clone .part.0] [clone .cold]", "foo"},
        Case{"foo(int) (.cold)", "foo"},
        Case{"ns::Type::run(char const*, std::vector<int>&) const",
             "ns::Type::run"},
        Case{"void ns::apply<int, (char)3>(int&&)", "ns::apply<T>"},
        Case{"std::unique_ptr<A, std::default_delete<A> >::reset(A*)",
             "std::unique_ptr<T>::reset"},
        Case{"(anonymous namespace)::helper()",
             "(anonymous namespace)::helper"},
        Case{"`anonymous namespace'::helper", "(anonymous namespace)::helper"},
        Case{"_GLOBAL__N_1::helper", "(anonymous namespace)::helper"},
        Case{"run()::{lambda(int)#2}::operator()(int) const",
             "run::{lambda}::operator()"},
        Case{"run()::$_12::operator()(int) const", "run::{lambda}::operator()"},
        Case{"run()::'lambda0'(int)::operator()(int) const",
             "run::{lambda}::operator()"},
        Case{"Foo::get() const::{lambda()#1}::operator()() const",
             "Foo::get::{lambda}::operator()"},
        Case{"Vec::operator[](unsigned long)", "Vec::operator[]"},
        Case{"bool operator==(A const&, A const&)", "operator=="},
        Case{"bool operator< <int>(A<int> const&, A<int> const&)",
             "operator< <T>"},
        Case{"A::operator->() const", "A::operator->"},
        Case{"A::operator bool() const", "A::operator bool"},
        Case{"operator new(unsigned long)", "operator new"},
        Case{"Foo::operatorish(int)", "Foo::operatorish"},
        Case{"name[abi:cxx11](int)", "name"},
        Case{"non-virtual thunk to Foo::bar()", "Foo::bar"}));

INSTANTIATE_TEST_SUITE_P(
    Others,
    FunctionName,
    testing::Values(Case{"app::load::h0123456789abcdef", "app::load"},
                    Case{"app::load::{closure#3}", "app::load::{closure}"},
                    Case{"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
                         "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
                    Case{"-[NSView drawRect:]", "-[NSView drawRect:]"},
                    Case{"+[App shared] (.cold.1)", "+[App shared]"}));

TEST(FunctionNameBroken, ComesBackAsFarAsItWasUnderstood) {
  EXPECT_EQ(NormalizeFunction("foo(int"), "foo(int");
  EXPECT_EQ(NormalizeFunction("foo<int"), "foo<int");
  EXPECT_EQ(NormalizeFunction(""), "");
  EXPECT_EQ(NormalizeFunction("()"), "()");
  EXPECT_EQ(NormalizeFunction("{lambda"), "{lambda");
}

TEST(FunctionNameBroken, LongNamesAreCut) {
  EXPECT_LE(NormalizeFunction(std::string(1 << 20, 'a')).size(),
            kMaxFunctionNameBytes);
  NormalizeFunction(std::string(1 << 20, '<'));
  NormalizeFunction(std::string(1 << 20, '('));
}

}  // namespace
}  // namespace cairn::report
