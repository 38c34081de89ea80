// SPDX-License-Identifier: Apache-2.0
//
// Our layouts of Mach exception messages against Apple's own headers. mig's
// headers are made from exc.defs and mach_exc.defs; what is composed of is
// compared here. No code.
#include <mach/exception_types.h>
#include <mach/mach.h>
#include <mach/mig_errors.h>

#include "handlers/exception_forward.h"
#include "handlers/exception_message.h"

namespace cairn::handlers {
namespace {

// mach_exc.defs, mach_exception_raise, as mig lays it out.
#pragma pack(push, 4)
struct RaiseRequest {
  mach_msg_header_t head;
  mach_msg_body_t body;
  mach_msg_port_descriptor_t thread;
  mach_msg_port_descriptor_t task;
  NDR_record_t ndr;
  exception_type_t exception;
  mach_msg_type_number_t code_count;
  int64_t code[2];
};
#pragma pack(pop)
static_assert(sizeof(RaiseRequest) == 84);
static_assert(offsetof(RaiseRequest, thread) == 28);
static_assert(offsetof(RaiseRequest, exception) == 60);
static_assert(offsetof(RaiseRequest, code) == 68);

static_assert(sizeof(mach_msg_header_t) == sizeof(MessageHeader));
static_assert(offsetof(mach_msg_header_t, msgh_remote_port) ==
              offsetof(MessageHeader, remote_port));
static_assert(offsetof(mach_msg_header_t, msgh_id) ==
              offsetof(MessageHeader, id));
static_assert(sizeof(mach_msg_port_descriptor_t) == sizeof(PortDescriptor));
static_assert(sizeof(NDR_record_t) == sizeof(Ndr));
static_assert(sizeof(mig_reply_error_t) ==
              sizeof(MessageHeader) + sizeof(Ndr) + 4);
static_assert(offsetof(mig_reply_error_t, RetCode) == 32);

static_assert(EXC_BAD_ACCESS == static_cast<int>(Exception::kBadAccess));
static_assert(EXC_BAD_INSTRUCTION ==
              static_cast<int>(Exception::kBadInstruction));
static_assert(EXC_ARITHMETIC == static_cast<int>(Exception::kArithmetic));
static_assert(EXC_EMULATION == static_cast<int>(Exception::kEmulation));
static_assert(EXC_SOFTWARE == static_cast<int>(Exception::kSoftware));
static_assert(EXC_BREAKPOINT == static_cast<int>(Exception::kBreakpoint));
static_assert(EXC_GUARD == static_cast<int>(Exception::kGuard));
static_assert(EXC_SOFT_SIGNAL == kSoftSignal);
static_assert((kExceptionMask & EXC_MASK_CRASH) == 0);
static_assert(EXC_TYPES_COUNT <= kMaxEarlierPorts);
static_assert(EXCEPTION_DEFAULT == kBehaviorDefault);
static_assert(EXCEPTION_STATE == kBehaviorState);
static_assert(EXCEPTION_STATE_IDENTITY == kBehaviorStateIdentity);
static_assert(static_cast<uint32_t>(MACH_EXCEPTION_CODES) == kBehavior64);
static_assert(THREAD_STATE_MAX <= static_cast<int>(kMaxStateWords));
static_assert(KERN_FAILURE == kReplyFailure);
static_assert(MACH_RCV_PORT_DIED == kReplyPortDied);
static_assert(MIG_BAD_ID == kMigBadId);
static_assert(MACH_MSGH_BITS_COMPLEX == 0x80000000u);
static_assert(MACH_MSG_TYPE_COPY_SEND == 19);
static_assert(MACH_MSG_TYPE_MAKE_SEND_ONCE == 21);
static_assert(MACH_MSGH_BITS_REMOTE_MASK == 0x1f);
static_assert(VM_MEMORY_STACK == 30);

}  // namespace
}  // namespace cairn::handlers
