// SPDX-License-Identifier: Apache-2.0
//
// Numbers of the system by name: signals, their codes, Mach exceptions; and the
// format's own enumerations as they stand in JSON.
#ifndef CAIRN_REPORT_NAMES_H_
#define CAIRN_REPORT_NAMES_H_

#include <cstdint>
#include <string>

#include "format/report_format.h"

namespace cairn::report {

// "SIGSEGV", or "signal 71". Linux and Mac numbers differ.
std::string SignalName(format::OperatingSystem os, uint32_t number);
// "SEGV_MAPERR", "SI_USER", or the number.
std::string SignalCodeName(format::OperatingSystem os,
                           uint32_t number,
                           int64_t code);
// What a person reads: "invalid memory access", "abort called".
std::string SignalMeaning(format::OperatingSystem os, uint32_t number);

// "EXC_BAD_ACCESS", or "exception 99".
std::string MachExceptionName(uint32_t exception);
// "KERN_INVALID_ADDRESS" for the codes of EXC_BAD_ACCESS; "" when it has none.
std::string MachCodeName(uint32_t exception, int64_t code);

// A value of a later version is "unknown".
const char* Name(format::EventKind kind);
const char* Name(format::FaultKind kind);
const char* Name(format::FrozenBy by);
const char* Name(format::WalkEnd end);
const char* Name(format::FrameTrust trust);
const char* Name(format::FrameKind kind);
const char* Name(format::CutWhat what);
const char* Name(format::Architecture architecture);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_NAMES_H_
