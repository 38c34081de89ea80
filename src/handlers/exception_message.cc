// SPDX-License-Identifier: Apache-2.0
#include "handlers/exception_message.h"

#include "safe/bytes.h"

namespace cairn::handlers {
namespace {

// Message ids: exc.defs is subsystem 2401, mach_exc.defs 2405; within each:
// raise, raise_state, raise_state_identity. A reply's id is 100 higher.
constexpr int32_t kExcBase = 2400;
constexpr int32_t kMachExcBase = 2404;
constexpr int32_t kReplyOffset = 100;

constexpr uint32_t kComplex = 0x80000000;  // MACH_MSGH_BITS_COMPLEX
constexpr uint32_t kCopySend = 19;         // MACH_MSG_TYPE_COPY_SEND
constexpr uint32_t kMakeSendOnce = 21;     // MACH_MSG_TYPE_MAKE_SEND_ONCE
constexpr uint32_t kRemoteBits = 0x1f;     // MACH_MSGH_BITS_REMOTE_MASK
// Integers little-endian, ASCII, IEEE: NDR_record.
constexpr Ndr kNdr = {{0, 0, 0, 0, 1, 0, 0, 0}};

// Appends plain values one behind the other, as MIG packs them: by 4 bytes.
class Packer {
 public:
  explicit Packer(uint8_t* out) : out_(out) {}
  template <typename T>
  void Put(const T& value) {
    PutBytes(&value, sizeof(value));
  }
  void PutBytes(const void* data, size_t bytes) {
    safe::Copy(out_ + bytes_, data, bytes);
    bytes_ += bytes;
  }
  size_t bytes() const { return bytes_; }

 private:
  uint8_t* out_;
  size_t bytes_ = 0;
};

class Unpacker {
 public:
  Unpacker(const uint8_t* data, size_t bytes) : data_(data), bytes_(bytes) {}
  template <typename T>
  bool Get(T* out) {
    if (bytes_ - at_ < sizeof(T)) {
      return false;
    }
    safe::Copy(out, data_ + at_, sizeof(T));
    at_ += sizeof(T);
    return true;
  }
  const uint8_t* here() const { return data_ + at_; }
  size_t left() const { return bytes_ - at_; }

 private:
  const uint8_t* data_;
  size_t bytes_;
  size_t at_ = 0;
};

PortDescriptor Carry(uint32_t port) {
  return {port, 0, kCopySend << 16};
}

uint32_t PlainBehavior(const EarlierPort& earlier) {
  return earlier.behavior & ~kBehaviorFlags;
}
bool Has64(const EarlierPort& earlier) {
  return (earlier.behavior & kBehavior64) != 0;
}
bool CarriesPorts(uint32_t behavior) {
  return behavior == kBehaviorDefault || behavior == kBehaviorStateIdentity;
}
bool CarriesState(uint32_t behavior) {
  return behavior == kBehaviorState || behavior == kBehaviorStateIdentity;
}

void PutCodes(const EarlierPort& earlier,
              const ExceptionFacts64& facts,
              Packer* out) {
  out->Put(facts.code_count);
  for (uint32_t i = 0; i < facts.code_count && i < 2; ++i) {
    if (Has64(earlier)) {
      out->Put(facts.codes[i]);
    } else {
      out->Put(static_cast<int32_t>(facts.codes[i]));
    }
  }
}

}  // namespace

bool DecodeHeader(const uint8_t* message, size_t bytes, MessageHeader* out) {
  return Unpacker(message, bytes).Get(out);
}

bool DecodeRequest(const uint8_t* message,
                   size_t bytes,
                   ExceptionFacts64* out) {
  Unpacker in(message, bytes);
  MessageHeader header;
  uint32_t descriptors = 0;
  PortDescriptor thread, task;
  Ndr ndr;
  *out = {};
  if (!in.Get(&header) || header.id != kMachExcBase + 1 ||
      (header.bits & kComplex) == 0 || header.bytes > bytes ||
      !in.Get(&descriptors) || descriptors != 2 || !in.Get(&thread) ||
      !in.Get(&task) || !in.Get(&ndr) || !in.Get(&out->exception) ||
      !in.Get(&out->code_count) || out->code_count > 2) {
    return false;
  }
  out->thread_port = thread.name;
  out->task_port = task.name;
  for (uint32_t i = 0; i < out->code_count; ++i) {
    if (!in.Get(&out->codes[i])) {
      return false;
    }
  }
  return true;
}

// The remote port of a request is the right to answer once.
size_t EncodeReply(const MessageHeader& request, int32_t answer, uint8_t* out) {
  Packer reply(out);
  reply.Put(MessageHeader{request.bits & kRemoteBits,
                          sizeof(MessageHeader) + sizeof(Ndr) + sizeof(answer),
                          request.remote_port,
                          0,
                          0,
                          request.id + kReplyOffset});
  reply.Put(kNdr);
  reply.Put(answer);
  return reply.bytes();
}

size_t EncodeForward(const EarlierPort& earlier,
                     const ExceptionFacts64& facts,
                     uint32_t reply_port,
                     const uint32_t* state,
                     uint32_t state_words,
                     uint8_t* out) {
  const uint32_t behavior = PlainBehavior(earlier);
  if (behavior < kBehaviorDefault || behavior > kBehaviorStateIdentity ||
      facts.code_count > 2 || state_words > kMaxStateWords) {
    return 0;
  }
  const bool ports = CarriesPorts(behavior);
  MessageHeader header = {
      (ports ? kComplex : 0u) | kCopySend | kMakeSendOnce << 8,
      0,
      earlier.port,
      reply_port,
      0,
      (Has64(earlier) ? kMachExcBase : kExcBase) +
          static_cast<int32_t>(behavior)};
  Packer message(out);
  message.Put(header);
  if (ports) {
    message.Put(uint32_t{2});
    message.Put(Carry(facts.thread_port));
    message.Put(Carry(facts.task_port));
  }
  message.Put(kNdr);
  message.Put(facts.exception);
  PutCodes(earlier, facts, &message);
  if (CarriesState(behavior)) {
    message.Put(earlier.flavor);
    message.Put(state_words);
    message.PutBytes(state, state_words * sizeof(uint32_t));
  }
  header.bytes = static_cast<uint32_t>(message.bytes());
  safe::Copy(out, &header, sizeof(header));
  return message.bytes();
}

bool DecodeForwardAnswer(const EarlierPort& earlier,
                         const uint8_t* message,
                         size_t bytes,
                         ForwardAnswer* out) {
  Unpacker in(message, bytes);
  MessageHeader header;
  Ndr ndr;
  *out = {};
  const uint32_t behavior = PlainBehavior(earlier);
  const int32_t wanted = (Has64(earlier) ? kMachExcBase : kExcBase) +
                         static_cast<int32_t>(behavior) + kReplyOffset;
  if (!in.Get(&header) || header.id != wanted || !in.Get(&ndr) ||
      !in.Get(&out->result)) {
    return false;
  }
  if (!CarriesState(behavior) || out->result != kReplySuccess) {
    return true;
  }
  if (!in.Get(&out->flavor) || !in.Get(&out->state_words) ||
      out->state_words > in.left() / sizeof(uint32_t)) {
    return false;
  }
  out->state = in.here();
  return true;
}

}  // namespace cairn::handlers
