// SPDX-License-Identifier: Apache-2.0
//
// Names of signals and codes against this system's headers and C library.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include "report/names.h"

namespace cairn::report {
namespace {

using format::OperatingSystem;

TEST(SignalNames, LinuxNumbersAreTheCLibrarys) {
  for (int number = 1; number < 32; ++number) {
    // One number, two names: the C library prefers the older SIGPOLL.
    const char* abbreviation = number == SIGIO ? "IO" : sigabbrev_np(number);
    ASSERT_NE(abbreviation, nullptr) << number;
    EXPECT_EQ(
        SignalName(OperatingSystem::kLinux, static_cast<uint32_t>(number)),
        std::string("SIG") + abbreviation);
  }
  EXPECT_EQ(
      SignalName(OperatingSystem::kLinux, static_cast<uint32_t>(SIGRTMIN)),
      "SIGRTMIN");
  EXPECT_EQ(SignalName(OperatingSystem::kLinux, 71), "signal 71");
  EXPECT_EQ(SignalName(OperatingSystem::kLinux, 0), "signal 0");
}

TEST(SignalNames, LinuxCodesAreTheHeaders) {
  const auto name = [](int number, int code) {
    return SignalCodeName(
        OperatingSystem::kLinux, static_cast<uint32_t>(number), code);
  };
#define CAIRN_EXPECT_CODE(number, code) EXPECT_EQ(name(number, code), #code)
  CAIRN_EXPECT_CODE(SIGILL, ILL_ILLOPC);
  CAIRN_EXPECT_CODE(SIGILL, ILL_ILLOPN);
  CAIRN_EXPECT_CODE(SIGILL, ILL_ILLADR);
  CAIRN_EXPECT_CODE(SIGILL, ILL_ILLTRP);
  CAIRN_EXPECT_CODE(SIGILL, ILL_PRVOPC);
  CAIRN_EXPECT_CODE(SIGILL, ILL_PRVREG);
  CAIRN_EXPECT_CODE(SIGILL, ILL_COPROC);
  CAIRN_EXPECT_CODE(SIGILL, ILL_BADSTK);
  CAIRN_EXPECT_CODE(SIGILL, ILL_BADIADDR);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_INTDIV);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_INTOVF);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_FLTDIV);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_FLTOVF);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_FLTUND);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_FLTRES);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_FLTINV);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_FLTSUB);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_FLTUNK);
  CAIRN_EXPECT_CODE(SIGFPE, FPE_CONDTRAP);
  CAIRN_EXPECT_CODE(SIGSEGV, SEGV_MAPERR);
  CAIRN_EXPECT_CODE(SIGSEGV, SEGV_ACCERR);
  CAIRN_EXPECT_CODE(SIGSEGV, SEGV_BNDERR);
  CAIRN_EXPECT_CODE(SIGSEGV, SEGV_PKUERR);
  CAIRN_EXPECT_CODE(SIGSEGV, SEGV_ACCADI);
  CAIRN_EXPECT_CODE(SIGSEGV, SEGV_ADIDERR);
  CAIRN_EXPECT_CODE(SIGSEGV, SEGV_ADIPERR);
  CAIRN_EXPECT_CODE(SIGSEGV, SEGV_MTEAERR);
  CAIRN_EXPECT_CODE(SIGSEGV, SEGV_MTESERR);
  CAIRN_EXPECT_CODE(SIGBUS, BUS_ADRALN);
  CAIRN_EXPECT_CODE(SIGBUS, BUS_ADRERR);
  CAIRN_EXPECT_CODE(SIGBUS, BUS_OBJERR);
  CAIRN_EXPECT_CODE(SIGBUS, BUS_MCEERR_AR);
  CAIRN_EXPECT_CODE(SIGBUS, BUS_MCEERR_AO);
  CAIRN_EXPECT_CODE(SIGTRAP, TRAP_BRKPT);
  CAIRN_EXPECT_CODE(SIGTRAP, TRAP_TRACE);
  CAIRN_EXPECT_CODE(SIGTRAP, TRAP_BRANCH);
  CAIRN_EXPECT_CODE(SIGTRAP, TRAP_HWBKPT);
  CAIRN_EXPECT_CODE(SIGTRAP, TRAP_UNK);
  CAIRN_EXPECT_CODE(SIGSEGV, SI_USER);
  CAIRN_EXPECT_CODE(SIGABRT, SI_TKILL);
  CAIRN_EXPECT_CODE(SIGTRAP, SI_KERNEL);
  CAIRN_EXPECT_CODE(SIGTERM, SI_QUEUE);
  CAIRN_EXPECT_CODE(SIGALRM, SI_TIMER);
  CAIRN_EXPECT_CODE(SIGIO, SI_SIGIO);
#undef CAIRN_EXPECT_CODE
  EXPECT_EQ(name(SIGSEGV, 99), "99");
  EXPECT_EQ(name(SIGFPE, 9), "9");
  EXPECT_EQ(name(SIGABRT, -2000000000), "-2000000000");
}

// XNU's bsd/sys/signal.h.
TEST(SignalNames, MacNumbersAndCodesAreItsOwn) {
  const OperatingSystem mac = OperatingSystem::kMac;
  EXPECT_EQ(SignalName(mac, 10), "SIGBUS");
  EXPECT_EQ(SignalName(mac, 12), "SIGSYS");
  EXPECT_EQ(SignalName(mac, 7), "SIGEMT");
  EXPECT_EQ(SignalName(mac, 30), "SIGUSR1");
  EXPECT_EQ(SignalName(mac, 34), "signal 34");
  EXPECT_EQ(SignalCodeName(mac, 8, 7), "FPE_INTDIV");
  EXPECT_EQ(SignalCodeName(mac, 11, 2), "SEGV_ACCERR");
  EXPECT_EQ(SignalCodeName(mac, 6, 0x10001), "SI_USER");
  EXPECT_EQ(SignalMeaning(OperatingSystem::kIos, 6), "abort called");
}

TEST(MachNames, ExceptionsAndTheirCodes) {
  EXPECT_EQ(MachExceptionName(1), "EXC_BAD_ACCESS");
  EXPECT_EQ(MachExceptionName(6), "EXC_BREAKPOINT");
  EXPECT_EQ(MachExceptionName(12), "EXC_GUARD");
  EXPECT_EQ(MachExceptionName(0), "exception 0");
  EXPECT_EQ(MachExceptionName(99), "exception 99");
  EXPECT_EQ(MachCodeName(1, 1), "KERN_INVALID_ADDRESS");
  EXPECT_EQ(MachCodeName(1, 2), "KERN_PROTECTION_FAILURE");
  EXPECT_EQ(MachCodeName(6, 1), "");
}

TEST(FormatNames, UnknownValuesAreUnknown) {
  EXPECT_STREQ(Name(format::WalkEnd::kNoRule), "no_rule");
  EXPECT_STREQ(Name(static_cast<format::WalkEnd>(200)), "unknown");
  EXPECT_STREQ(Name(format::Architecture::kArm), "armv7");
}

}  // namespace
}  // namespace cairn::report
