// SPDX-License-Identifier: Apache-2.0
//
// A demangled function name → what stays the same from build to build and from
// compiler to compiler.
//
// Any thread. Time is linear in the name; a name that follows no known grammar
// comes back as far as it was understood, the rest as it is.
#ifndef CAIRN_REPORT_FUNCTION_NAME_H_
#define CAIRN_REPORT_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace cairn::report {

// Longer names are cut before anything else.
inline constexpr size_t kMaxFunctionNameBytes = 4096;

// Drops return types, argument lists, trailing qualifiers, symbol versions,
// Rust hashes and the marks of compiler-made copies (cold parts, clones);
// template arguments become <T>, lambdas {lambda}, every spelling of the
// anonymous namespace the same one.
std::string NormalizeFunction(std::string_view name);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_FUNCTION_NAME_H_
