// SPDX-License-Identifier: Apache-2.0
#include "capture/cfi_expression.h"

#include "capture/byte_reader.h"

namespace cairn::capture {
namespace {

constexpr int kMaxDepth = 32;
constexpr int kMaxSteps = 512;

// DWARF 5 table 7.9.
enum Operation : uint8_t {
  kAddr = 0x03,
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s,
  kConst2u,
  kConst2s,
  kConst4u,
  kConst4s,
  kConst8u,
  kConst8s,
  kConstu,
  kConsts,
  kDup,
  kDrop,
  kOver,
  kPick,
  kSwap,
  kRot,
  kAbs = 0x19,
  kAnd,
  kDiv,
  kMinus,
  kMod,
  kMul,
  kNeg,
  kNot,
  kOr,
  kPlus,
  kPlusUconst,
  kShl,
  kShr,
  kShra,
  kXor,
  kBra,
  kEq,
  kGe,
  kGt,
  kLe,
  kLt,
  kNe,
  kSkip,
  kLit0 = 0x30,
  kLit31 = 0x4f,
  kBreg0 = 0x70,
  kBreg31 = 0x8f,
  kBregx = 0x92,
  kDerefSize = 0x94,
  kNop = 0x96,
};

class Machine {
 public:
  explicit Machine(const ExpressionInput& input)
      : input_(input),
        pointer_bytes_(RolesOf(input.registers->architecture).pointer_bytes),
        bytes_(input.code, input.address, input.address + input.bytes) {
    if (input.has_first) {
      Push(input.first);
    }
  }

  bool Run(uint64_t* result) {
    for (int steps = 0; !bytes_.AtEnd(); ++steps) {
      if (steps == kMaxSteps) {
        return false;
      }
      Step(bytes_.U8());
    }
    *result = Pop();
    return bytes_.ok();
  }

 private:
  // A failure of any kind fails the byte reader: one flag for all.
  void Push(uint64_t value) {
    if (depth_ == kMaxDepth) {
      bytes_.Fail();
      return;
    }
    stack_[depth_++] =
        pointer_bytes_ == 4 ? static_cast<uint32_t>(value) : value;
  }
  uint64_t Pop() {
    if (depth_ == 0) {
      bytes_.Fail();
      return 0;
    }
    return stack_[--depth_];
  }
  // Values are signed at the width of the target's address.
  int64_t PopSigned() {
    const uint64_t value = Pop();
    return pointer_bytes_ == 4 ? static_cast<int32_t>(value)
                               : static_cast<int64_t>(value);
  }
  void PushRegister(uint64_t number, int64_t offset) {
    if (number >= format::kMaxRegisters ||
        !input_.registers->Has(static_cast<int>(number))) {
      bytes_.Fail();
      return;
    }
    Push(input_.registers->values[number] + static_cast<uint64_t>(offset));
  }
  void PushPicked(uint64_t index) {
    if (index >= static_cast<uint64_t>(depth_)) {
      bytes_.Fail();
      return;
    }
    Push(stack_[depth_ - 1 - static_cast<int>(index)]);
  }
  void Dereference(size_t width) {
    const uint64_t address = Pop();
    uint64_t value = 0;
    if (!bytes_.ok() || width == 0 || width > 8 ||
        (!input_.stack.Read(address, &value, width) &&
         !input_.code.Read(address, &value, width))) {
      bytes_.Fail();
      return;
    }
    Push(value);
  }
  void Jump(int64_t offset) {
    const uint64_t target = bytes_.address() + static_cast<uint64_t>(offset);
    if (target - input_.address > input_.bytes) {
      bytes_.Fail();
      return;
    }
    bytes_.MoveTo(target, input_.address + input_.bytes);
  }

  void Step(uint8_t operation) {
    if (operation >= kLit0 && operation <= kLit31) {
      Push(operation - kLit0);
    } else if (operation >= kBreg0 && operation <= kBreg31) {
      PushRegister(operation - kBreg0, bytes_.Sleb());
    } else if (operation >= kConst1u && operation <= kConsts) {
      PushConstant(operation);
    } else if (operation >= kEq && operation <= kNe) {
      Compare(operation);
    } else if (operation >= kAbs && operation <= kXor) {
      Calculate(operation);
    } else {
      StepOther(operation);
    }
  }

  void PushConstant(uint8_t operation) {
    if (operation == kConstu) {
      Push(bytes_.Uleb());
    } else if (operation == kConsts) {
      Push(static_cast<uint64_t>(bytes_.Sleb()));
    } else {
      const size_t width = size_t{1} << ((operation - kConst1u) / 2);
      Push((operation & 1) != 0 ? static_cast<uint64_t>(bytes_.Signed(width))
                                : bytes_.Unsigned(width));
    }
  }

  void Compare(uint8_t operation) {
    const int64_t right = PopSigned();
    const int64_t left = PopSigned();
    switch (operation) {
      case kEq:
        return Push(left == right);
      case kGe:
        return Push(left >= right);
      case kGt:
        return Push(left > right);
      case kLe:
        return Push(left <= right);
      case kLt:
        return Push(left < right);
      default:
        return Push(left != right);
    }
  }

  void Calculate(uint8_t operation) {
    switch (operation) {
      case kAbs: {
        const int64_t value = PopSigned();
        return Push(value < 0 ? 0 - static_cast<uint64_t>(value)
                              : static_cast<uint64_t>(value));
      }
      case kNeg:
        return Push(0 - Pop());
      case kNot:
        return Push(~Pop());
      case kPlusUconst:
        return Push(Pop() + bytes_.Uleb());
      case kDiv:
        return Divide();
      case kShra: {
        const uint64_t count = Pop();
        const int64_t value = PopSigned();
        return Push(static_cast<uint64_t>(value >> (count > 63 ? 63 : count)));
      }
      default:
        break;
    }
    const uint64_t right = Pop();
    const uint64_t left = Pop();
    switch (operation) {
      case kAnd:
        return Push(left & right);
      case kMinus:
        return Push(left - right);
      case kMod:
        return right == 0 ? bytes_.Fail() : Push(left % right);
      case kMul:
        return Push(left * right);
      case kOr:
        return Push(left | right);
      case kPlus:
        return Push(left + right);
      case kShl:
        return Push(right > 63 ? 0 : left << right);
      case kShr:
        return Push(right > 63 ? 0 : left >> right);
      case kXor:
        return Push(left ^ right);
      default:
        return bytes_.Fail();  // kBra is handled elsewhere
    }
  }

  // Signed; the one quotient that does not fit wraps like the rest.
  void Divide() {
    const int64_t right = PopSigned();
    const int64_t left = PopSigned();
    if (right == 0) {
      return bytes_.Fail();
    }
    if (right == -1) {
      return Push(0 - static_cast<uint64_t>(left));
    }
    Push(static_cast<uint64_t>(left / right));
  }

  void StepOther(uint8_t operation) {
    switch (operation) {
      case kAddr:
        return Push(bytes_.Unsigned(static_cast<size_t>(pointer_bytes_)));
      case kDeref:
        return Dereference(static_cast<size_t>(pointer_bytes_));
      case kDerefSize:
        return Dereference(bytes_.U8());
      case kDup:
        return PushPicked(0);
      case kDrop:
        Pop();
        return;
      case kOver:
        return PushPicked(1);
      case kPick:
        return PushPicked(bytes_.U8());
      case kSwap:
        return Rotate(2);
      case kRot:
        return Rotate(3);
      case kBra: {
        const int64_t offset = bytes_.Signed(2);
        if (Pop() != 0) {
          Jump(offset);
        }
        return;
      }
      case kSkip:
        return Jump(bytes_.Signed(2));
      case kBregx: {
        const uint64_t number = bytes_.Uleb();
        return PushRegister(number, bytes_.Sleb());
      }
      case kNop:
        return;
      default:
        return bytes_.Fail();
    }
  }

  // The top entry goes below the other `count` − 1.
  void Rotate(int count) {
    if (depth_ < count) {
      return bytes_.Fail();
    }
    const uint64_t top = stack_[depth_ - 1];
    for (int i = 1; i < count; ++i) {
      stack_[depth_ - i] = stack_[depth_ - i - 1];
    }
    stack_[depth_ - count] = top;
  }

  const ExpressionInput& input_;
  const int pointer_bytes_;
  ByteReader bytes_;
  int depth_ = 0;
  uint64_t stack_[kMaxDepth];
};

}  // namespace

bool EvaluateExpression(const ExpressionInput& input, uint64_t* result) {
  return Machine(input).Run(result);
}

}  // namespace cairn::capture
