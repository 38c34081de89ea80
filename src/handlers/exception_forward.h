// SPDX-License-Identifier: Apache-2.0
//
// What becomes of an exception behind its report: who was there before us, and
// how that one is told.
//
// Crash time: yes. Plain data; no call.
#ifndef CAIRN_HANDLERS_EXCEPTION_FORWARD_H_
#define CAIRN_HANDLERS_EXCEPTION_FORWARD_H_

#include "format/report_format.h"
#include "handlers/exception_message.h"

namespace cairn::handlers {

// EXC_TYPES_COUNT: as many ports as a task can have.
inline constexpr size_t kMaxEarlierPorts = 14;

struct EarlierPorts {
  EarlierPort ports[kMaxEarlierPorts];
  uint32_t count;
};

// The port that listened to `exception` before us; null when none did.
const EarlierPort* FindEarlier(const EarlierPorts& earlier, int32_t exception);

enum class Forward {
  // Nobody was there: the kernel shall go on to the host's port and the signal.
  kNone,
  // The instruction will fault again: with the earlier ports put back and the
  // thread going on, the kernel itself tells the earlier port, in its own
  // behaviour, with ports that only the kernel may send.
  kFaultAgain,
  // The moment passes: the earlier port is sent a message.
  kMessage,
};

// A trap on x86_64 leaves the program counter behind it; a guard violation and
// a software exception are told once.
Forward PlanForward(const EarlierPorts& earlier,
                    int32_t exception,
                    format::Architecture architecture);

// True for an exception that is no crash: a signal that a debugger is shown.
bool IsDebuggersSignal(const ExceptionFacts64& facts);

// The signal that the kernel makes of an exception nobody takes (xnu
// bsd/uxkern/ux_exception.c); 0 when it makes none.
int32_t SignalOf(int32_t exception, int64_t code, int64_t subcode);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_EXCEPTION_FORWARD_H_
