// SPDX-License-Identifier: Apache-2.0
//
// Mangled name → name for people.
//
// Ordinary code, any thread with 1 MiB of stack to spare. Names come from
// hostile files: length, template nesting and output are bounded; a name beyond
// a bound stays mangled.
#ifndef CAIRN_SYMBOLICATE_DEMANGLE_H_
#define CAIRN_SYMBOLICATE_DEMANGLE_H_

#include <string>

namespace cairn::symbolicate {

// C++ (Itanium, `_Z…`) and Rust's legacy scheme, without its hash. Every other
// name is returned as it is: C names, and Rust's v0 scheme (`_R…`).
std::string Demangle(const std::string& name);

}  // namespace cairn::symbolicate

#endif  // CAIRN_SYMBOLICATE_DEMANGLE_H_
