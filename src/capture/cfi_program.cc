// SPDX-License-Identifier: Apache-2.0
#include "capture/cfi_program.h"

#include "capture/byte_reader.h"
#include "safe/bytes.h"

namespace cairn::capture {
namespace {

// DWARF 5 table 7.29, and what GNU and ARM added.
enum Instruction : uint8_t {
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kMipsAdvanceLoc8 = 0x1d,
  kAarch64NegateRaStateWithPc = 0x2c,
  kAarch64NegateRaState = 0x2d,  // GNU_window_save on SPARC
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
  kAdvanceLoc = 0x40,  // operand in the low six bits
  kOffset = 0x80,
  kRestore = 0xc0,
};

class Program {
 public:
  Program(const safe::MemoryReader& memory,
          const CfiEntry& entry,
          uint64_t address,
          int pointer_bytes,
          CfiRow* row)
      : memory_(memory),
        entry_(entry),
        target_(address),
        pointer_bytes_(pointer_bytes),
        location_(entry.begin),
        row_(row),
        bytes_(memory, entry.initial_program, entry.initial_program_end) {}

  bool Run() {
    safe::Fill(row_, 0, sizeof(*row_));
    initial_ = *row_;
    Execute();
    if (!bytes_.ok()) {
      return false;
    }
    initial_ = *row_;
    bytes_.MoveTo(entry_.program, entry_.program_end);
    Execute();
    return bytes_.ok() && row_->cfa_rule != CfaRule::kNone;
  }

 private:
  // Runs until the location passes the target.
  void Execute() {
    while (!bytes_.AtEnd() && location_ <= target_) {
      if (++steps_ > kMaxCfiInstructions) {
        return bytes_.Fail();
      }
      const uint8_t byte = bytes_.U8();
      const uint8_t low = byte & 0x3f;
      switch (byte & 0xc0) {
        case kAdvanceLoc:
          Advance(low);
          break;
        case kOffset:
          SetScaled(low, RegisterRule::kOffset, bytes_.Uleb());
          break;
        case kRestore:
          Restore(low);
          break;
        default:
          StepExtended(low);
      }
    }
  }

  void StepExtended(uint8_t instruction) {
    switch (instruction) {
      case kNop:
        return;
      case kSetLoc:
        location_ = ReadEncodedPointer(
            &bytes_, memory_, entry_.pointer_encoding, 0, pointer_bytes_);
        return;
      case kAdvanceLoc1:
        return Advance(bytes_.Unsigned(1));
      case kAdvanceLoc2:
        return Advance(bytes_.Unsigned(2));
      case kAdvanceLoc4:
        return Advance(bytes_.Unsigned(4));
      case kMipsAdvanceLoc8:
        return Advance(bytes_.Unsigned(8));
      case kRememberState:
        return Remember();
      case kRestoreState:
        return RestoreRemembered();
      case kDefCfa:
      case kDefCfaRegister:
      case kDefCfaOffset:
      case kDefCfaSf:
      case kDefCfaOffsetSf:
      case kDefCfaExpression:
        return DefineCfa(instruction);
      case kAarch64NegateRaState:
      case kAarch64NegateRaStateWithPc:
        row_->return_address_signed = !row_->return_address_signed;
        return;
      case kGnuArgsSize:
        bytes_.Uleb();
        return;
      default:
        return DefineRegister(instruction, bytes_.Uleb());
    }
  }

  void DefineRegister(uint8_t instruction, uint64_t number) {
    switch (instruction) {
      case kRestoreExtended:
        return Restore(number);
      case kUndefined:
        return Set(number, RegisterRule::kUndefined, 0);
      case kSameValue:
        return Set(number, RegisterRule::kSameValue, 0);
      case kRegister:
        return SetRegister(number, bytes_.Uleb());
      case kOffsetExtended:
        return SetScaled(number, RegisterRule::kOffset, bytes_.Uleb());
      case kOffsetExtendedSf:
        return SetScaled(number, RegisterRule::kOffset, bytes_.Sleb());
      case kGnuNegativeOffsetExtended:
        return SetScaled(number, RegisterRule::kOffset, 0 - bytes_.Uleb());
      case kValOffset:
        return SetScaled(number, RegisterRule::kValueOffset, bytes_.Uleb());
      case kValOffsetSf:
        return SetScaled(number, RegisterRule::kValueOffset, bytes_.Sleb());
      case kExpression:
        return Set(number, RegisterRule::kExpression, TakeExpression());
      case kValExpression:
        return Set(number, RegisterRule::kValueExpression, TakeExpression());
      default:
        return bytes_.Fail();
    }
  }

  void DefineCfa(uint8_t instruction) {
    if (instruction == kDefCfaExpression) {
      row_->cfa_rule = CfaRule::kExpression;
      row_->cfa_value = Narrow(TakeExpression());
      return;
    }
    if (instruction == kDefCfa || instruction == kDefCfaSf ||
        instruction == kDefCfaRegister) {
      const uint64_t number = bytes_.Uleb();
      if (number >= format::kMaxRegisters) {
        return bytes_.Fail();
      }
      row_->cfa_register = static_cast<uint8_t>(number);
    }
    if (instruction == kDefCfa || instruction == kDefCfaSf) {
      row_->cfa_rule = CfaRule::kRegisterOffset;
    } else if (row_->cfa_rule != CfaRule::kRegisterOffset) {
      return bytes_.Fail();  // changes a rule that is not there
    }
    if (instruction == kDefCfa || instruction == kDefCfaOffset) {
      row_->cfa_value = Narrow(static_cast<int64_t>(bytes_.Uleb()));
    } else if (instruction != kDefCfaRegister) {
      row_->cfa_value = Narrow(Scale(bytes_.Sleb()));
    }
  }

  void Advance(uint64_t delta) { location_ += delta * entry_.code_align; }

  void Remember() {
    if (remembered_count_ == kMaxRememberedStates) {
      return bytes_.Fail();
    }
    remembered_[remembered_count_++] = *row_;
  }
  // GCC and LLVM restore the CFA as well, and so do all compilers' outputs
  // expect.
  void RestoreRemembered() {
    if (remembered_count_ == 0) {
      return bytes_.Fail();
    }
    *row_ = remembered_[--remembered_count_];
  }

  void Restore(uint64_t number) {
    if (number < format::kMaxRegisters) {
      row_->rule[number] = initial_.rule[number];
      row_->value[number] = initial_.value[number];
    }
  }
  void Set(uint64_t number, RegisterRule rule, int64_t value) {
    const int32_t narrow = Narrow(value);
    if (number < format::kMaxRegisters) {
      row_->rule[number] = rule;
      row_->value[number] = narrow;
    }
  }
  void SetRegister(uint64_t number, uint64_t other) {
    if (other >= format::kMaxRegisters) {
      // In a register that we do not carry: lost.
      return Set(number, RegisterRule::kUndefined, 0);
    }
    Set(number, RegisterRule::kRegister, static_cast<int64_t>(other));
  }
  template <typename Integer>
  void SetScaled(uint64_t number, RegisterRule rule, Integer value) {
    Set(number, rule, Scale(static_cast<int64_t>(value)));
  }

  int64_t Scale(int64_t value) {
    if (entry_.data_align != static_cast<int32_t>(entry_.data_align)) {
      bytes_.Fail();
      return 0;
    }
    return Narrow(value) * entry_.data_align;
  }
  int32_t Narrow(int64_t value) {
    const auto narrow = static_cast<int32_t>(value);
    if (narrow != value) {
      bytes_.Fail();
    }
    return narrow;
  }
  // Steps over a length and that many bytes; returns where the length stands.
  int64_t TakeExpression() {
    const auto place = static_cast<int64_t>(bytes_.address() - entry_.fde);
    bytes_.Skip(bytes_.Uleb());
    return place;
  }

  const safe::MemoryReader& memory_;
  const CfiEntry& entry_;
  const uint64_t target_;
  const int pointer_bytes_;
  uint64_t location_;
  int steps_ = 0;
  CfiRow* row_;
  ByteReader bytes_;
  int remembered_count_ = 0;
  CfiRow initial_;
  CfiRow remembered_[kMaxRememberedStates];
};

}  // namespace

bool RunCfiProgram(const safe::MemoryReader& memory,
                   const CfiEntry& entry,
                   uint64_t address,
                   int pointer_bytes,
                   CfiRow* row) {
  return Program(memory, entry, address, pointer_bytes, row).Run();
}

}  // namespace cairn::capture
