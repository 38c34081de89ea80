// SPDX-License-Identifier: Apache-2.0
//
// Mach exception messages as bytes: what the kernel sends to an exception port,
// what is answered, and what is sent on to the port that was there before.
//
// Layouts are ours, after xnu osfmk/mach/exc.defs, mach_exc.defs and message.h,
// and compared with Apple's headers where those are (handlers/layouts_mac.cc):
// so this is built and tested everywhere.
//
// Crash time: yes. Plain data; no call.
#ifndef CAIRN_HANDLERS_EXCEPTION_MESSAGE_H_
#define CAIRN_HANDLERS_EXCEPTION_MESSAGE_H_

#include <cstddef>
#include <cstdint>

namespace cairn::handlers {

// exception_type_t (mach/exception_types.h).
enum class Exception : int32_t {
  kBadAccess = 1,
  kBadInstruction = 2,
  kArithmetic = 3,
  kEmulation = 4,
  kSoftware = 5,
  kBreakpoint = 6,
  kGuard = 12,
};
constexpr uint32_t MaskOf(Exception exception) {
  return 1u << static_cast<uint32_t>(exception);
}
// What we listen to. Never EXC_CRASH: its message comes when the process can no
// longer be scheduled, so a handler inside it waits for ever.
inline constexpr uint32_t kExceptionMask =
    MaskOf(Exception::kBadAccess) | MaskOf(Exception::kBadInstruction) |
    MaskOf(Exception::kArithmetic) | MaskOf(Exception::kSoftware) |
    MaskOf(Exception::kBreakpoint) | MaskOf(Exception::kGuard);
inline constexpr int64_t kSoftSignal = 0x10003;  // EXC_SOFT_SIGNAL

// exception_behavior_t.
inline constexpr uint32_t kBehaviorDefault = 1;
inline constexpr uint32_t kBehaviorState = 2;
inline constexpr uint32_t kBehaviorStateIdentity = 3;
inline constexpr uint32_t kBehavior64 = 0x80000000;  // MACH_EXCEPTION_CODES
inline constexpr uint32_t kBehaviorFlags = 0xc0000000;

// kern_return_t of a reply, and why one is given.
inline constexpr int32_t kReplySuccess = 0;  // the thread goes on as it is
// KERN_FAILURE: the kernel asks the next port, then turns the exception into a
// signal.
inline constexpr int32_t kReplyFailure = 5;
// MACH_RCV_PORT_DIED: ends the delivery of EXC_CRASH so that the system's own
// reporter, which listens to the corpse, still runs (A1.8). Only for a message
// that was sent to us although we never ask for EXC_CRASH.
inline constexpr int32_t kReplyPortDied = 0x10004009;
inline constexpr int32_t kMigBadId = -303;

struct MessageHeader {  // mach_msg_header_t
  uint32_t bits, bytes, remote_port, local_port, voucher_port;
  int32_t id;
};
struct PortDescriptor {  // mach_msg_port_descriptor_t
  uint32_t name, pad1;
  uint32_t pad2_disposition_type;  // 16, 8 and 8 bits
};
struct Ndr {  // NDR_record_t
  uint8_t bytes[8];
};
static_assert(sizeof(MessageHeader) == 24 && sizeof(PortDescriptor) == 12);

inline constexpr uint32_t kMaxStateWords = 1296;  // THREAD_STATE_MAX of 64 bit
inline constexpr size_t kMaxMessageBytes = 8192;

// One exception, whatever message brought it.
struct ExceptionFacts64 {
  uint32_t thread_port, task_port;  // 0: the message has none
  int32_t exception;
  uint32_t code_count;
  int64_t codes[2];
};

// Reads a request that our own port was registered for (behaviour default with
// 64-bit codes). False when `bytes` is no such message.
bool DecodeRequest(const uint8_t* message, size_t bytes, ExceptionFacts64* out);

// The header of a request, for its answer. False when there is not even one.
bool DecodeHeader(const uint8_t* message, size_t bytes, MessageHeader* out);

// The answer to a request; returns its bytes, at most kMaxReplyBytes.
inline constexpr size_t kMaxReplyBytes = 64;
size_t EncodeReply(const MessageHeader& request, int32_t answer, uint8_t* out);

// A port that was there before ours, with the behaviour and state that it asked
// for.
struct EarlierPort {
  uint32_t mask;
  uint32_t port;
  uint32_t behavior;
  int32_t flavor;
};

// A request in the earlier port's own behaviour: 32-bit codes are the low
// halves. `state` is the thread's state of the flavour it asked for, for the
// two behaviours that carry one. Returns the message's bytes, 0 for a behaviour
// that cannot be made. `out` has room for kMaxMessageBytes.
size_t EncodeForward(const EarlierPort& earlier,
                     const ExceptionFacts64& facts,
                     uint32_t reply_port,
                     const uint32_t* state,
                     uint32_t state_words,
                     uint8_t* out);

// What an earlier port answered. `state` points into the message.
struct ForwardAnswer {
  int32_t result;
  int32_t flavor;
  const uint8_t* state;
  uint32_t state_words;
};
bool DecodeForwardAnswer(const EarlierPort& earlier,
                         const uint8_t* message,
                         size_t bytes,
                         ForwardAnswer* out);

}  // namespace cairn::handlers

#endif  // CAIRN_HANDLERS_EXCEPTION_MESSAGE_H_
