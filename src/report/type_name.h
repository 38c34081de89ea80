// SPDX-License-Identifier: Apache-2.0
//
// A C++ type as the runtime names it ("St13runtime_error") → as written in
// source ("std::runtime_error").
#ifndef CAIRN_REPORT_TYPE_NAME_H_
#define CAIRN_REPORT_TYPE_NAME_H_

#include <string>

namespace cairn::report {

// Gives `mangled` back when it is no type name, or could expand beyond reason:
// each reference to an earlier part at most doubles the text, so names with
// more than a few of them, or very long ones, are left alone.
std::string TypeName(const std::string& mangled);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_TYPE_NAME_H_
