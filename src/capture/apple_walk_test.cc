// SPDX-License-Identifier: Apache-2.0
//
// Walks over code that Clang makes for Apple systems, without unwind tables.
// The instructions are those of functions in tests/macho/program.cc and bare.c,
// as llvm-objdump -d prints them; what the registers hold at each of them
// follows from the instructions before it (AAPCS64; Apple's armv7 convention).
#include <gtest/gtest.h>

#include <memory>

#include "capture/fake_memory.h"
#include "capture/unwinder.h"

namespace cairn::capture {
namespace {

using format::Architecture;
using format::FrameTrust;
using format::WalkEnd;

constexpr uint64_t kStack = 0x6fd00000;
constexpr int kFp = 29, kLr = 30, kSp = 31, kPc = 32;

struct Target {
  explicit Target(Architecture architecture) {
    registers.architecture = architecture;
    table->Init(images.data(), 2);
  }
  void Code(uint64_t address, const std::vector<uint32_t>& words) {
    std::vector<uint8_t> bytes(words.size() * 4);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    memory.Put(address, bytes);
  }
  void Text(uint64_t address, uint64_t bytes) {
    Image image = {};
    image.address = address;
    image.bytes = bytes;
    image.segments[0] = {address, bytes, kSegmentRead | kSegmentExecute, 0};
    image.segment_count = 1;
    table->Append(image);
    table->Reindex();
  }
  void Word(uint64_t address, uint64_t value) {
    std::memcpy(&stack[address - kStack], &value, width);
  }
  std::vector<Frame> Walk() {
    memory.Put(kStack, stack);
    WalkInput input = {};
    input.registers = &registers;
    input.memory = memory.reader();
    input.stack_memory = memory.reader();
    input.images = table.get();
    input.stack = {kStack, kStack + stack.size()};
    input.apple_abi = true;
    frames.resize(input.limits.inner_frames + input.limits.outer_frames);
    output.frames = frames.data();
    WalkStack(input, &output);
    return {frames.begin(), frames.begin() + output.count};
  }

  size_t width = 8;
  Registers registers = {};
  FakeMemory memory;
  std::vector<uint8_t> stack = std::vector<uint8_t>(0x1000);
  std::vector<Image> images = std::vector<Image>(2);
  std::unique_ptr<ImageTable> table = std::make_unique<ImageTable>();
  std::vector<Frame> frames;
  WalkOutput output;
};

std::vector<uint64_t> Addresses(const std::vector<Frame>& frames) {
  std::vector<uint64_t> addresses;
  for (const Frame& frame : frames) {
    addresses.push_back(frame.address);
  }
  return addresses;
}

constexpr uint64_t kLeaf = 0x10000085c, kRegisters = 0x100000868;
constexpr uint64_t kMain = 0x100000a00, kStart = 0x100000b00;
constexpr uint64_t kInMain = kMain + 4, kInStart = kStart + 4;
// Where main's frame record, and that of cairn_registers, lie.
constexpr uint64_t kMainRecord = kStack + 0x800, kRecord = kStack + 0x700;
constexpr uint64_t kSigned = 0x9a31000000000000;  // a signature on an address

// main called cairn_registers, which may have called cairn_leaf.
Target Arm64(uint64_t pc, uint64_t lr, uint64_t sp, uint64_t fp) {
  Target t(Architecture::kArm64);
  t.Code(kLeaf,
         {0x52800aa8,    // mov w8, #0x55
          0x4a080000,    // eor w0, w0, w8
          0xd65f03c0});  // ret
  t.Code(kRegisters,
         {0xa9bb67fa,            // stp x26, x25, [sp, #-0x50]!
          0xa9015ff8,            // stp x24, x23, [sp, #0x10]
          0xa90257f6,            // stp x22, x21, [sp, #0x20]
          0xa9034ff4,            // stp x20, x19, [sp, #0x30]
          0xa9047bfd,            // stp x29, x30, [sp, #0x40]
          0x910103fd,            // add x29, sp, #0x40
          0x2a0003f3,            // mov w19, w0
          0x97fffff6,            // bl cairn_leaf
          0x2a0003f4});          // mov w20, w0
  t.Code(kMain, {0x97ffff9a});   // bl cairn_registers
  t.Code(kStart, {0xd63f0100});  // blr x8
  t.Text(0x100000000, 0x4000);
  t.registers.Set(kPc, pc);
  t.registers.Set(kLr, lr);
  t.registers.Set(kSp, sp);
  t.registers.Set(kFp, fp);
  t.Word(kMainRecord, 0);
  t.Word(kMainRecord + 8, kInStart);
  t.Word(kRecord, kMainRecord);
  t.Word(kRecord + 8, kInMain);
  return t;
}

TEST(AppleWalk, S1_4_Arm64LeafIsFollowedByItsCaller) {
  Target t = Arm64(kLeaf + 4, kRegisters + 0x20, kRecord - 0x40, kRecord);
  const auto frames = t.Walk();
  EXPECT_EQ(
      Addresses(frames),
      (std::vector<uint64_t>{kLeaf + 4, kRegisters + 0x20, kInMain, kInStart}));
  EXPECT_EQ(frames[1].trust, FrameTrust::kLinkRegister);
  EXPECT_EQ(frames[2].trust, FrameTrust::kFramePointer);
  EXPECT_EQ(t.output.end, WalkEnd::kEndOfStack);
}

// The link register still says main, and so does the record: one frame.
TEST(AppleWalk, S1_4_A3_1_Arm64StoredLinkRegisterIsNoFrameOfItsOwn) {
  Target t = Arm64(kRegisters + 0x18, kInMain, kRecord - 0x40, kRecord);
  EXPECT_EQ(Addresses(t.Walk()),
            (std::vector<uint64_t>{kRegisters + 0x18, kInMain, kInStart}));
}

// Behind a call the link register points into the function itself.
TEST(AppleWalk, S1_4_A3_1_Arm64LinkRegisterOfAFinishedCallIsNoFrame) {
  Target t =
      Arm64(kRegisters + 0x20, kRegisters + 0x20, kRecord - 0x40, kRecord);
  EXPECT_EQ(Addresses(t.Walk()),
            (std::vector<uint64_t>{kRegisters + 0x20, kInMain, kInStart}));
}

// At the first instruction, and in the middle of the prologue.
TEST(AppleWalk, S1_4_Arm64PrologueHasTheLinkRegister) {
  for (const uint64_t done : {0, 1, 4, 5}) {
    Target t = Arm64(kRegisters + done * 4,
                     kInMain,
                     done == 0 ? kRecord + 0x10 : kRecord - 0x40,
                     kMainRecord);
    const auto frames = t.Walk();
    EXPECT_EQ(
        Addresses(frames),
        (std::vector<uint64_t>{kRegisters + done * 4, kInMain, kInStart}));
    EXPECT_EQ(frames[1].trust, FrameTrust::kLinkRegister);
  }
}

// ldp x29, x30 has given both back; ret has not run yet.
TEST(AppleWalk, S1_4_A3_37_Arm64EpilogueHasTheLinkRegister) {
  Target t = Arm64(kRegisters + 0xbc, kInMain, kRecord + 0x10, kMainRecord);
  std::vector<uint32_t> body((0xa8 - 0x24) / 4, 0xd503201f);  // nop
  body.push_back(0xa9447bfd);  // ldp x29, x30, [sp, #0x40]
  body.push_back(0xa9434ff4);  // ldp x20, x19, [sp, #0x30]
  body.push_back(0xa94257f6);  // ldp x22, x21, [sp, #0x20]
  body.push_back(0xa9415ff8);  // ldp x24, x23, [sp, #0x10]
  body.push_back(0xa8c567fa);  // ldp x26, x25, [sp], #0x50
  body.push_back(0xd65f03c0);  // ret
  t.Code(kRegisters + 0x24, body);
  EXPECT_EQ(Addresses(t.Walk()),
            (std::vector<uint64_t>{kRegisters + 0xbc, kInMain, kInStart}));
}

TEST(AppleWalk, S1_4_A3_3_Arm64NullCall) {
  Target t = Arm64(0, kInMain, kRecord - 0x40, kMainRecord);
  EXPECT_EQ(Addresses(t.Walk()), (std::vector<uint64_t>{0, kInMain, kInStart}));
}

TEST(AppleWalk, S1_3_A3_5_Arm64SignaturesAreStripped) {
  Target t =
      Arm64(kLeaf + 4, kSigned | (kRegisters + 0x20), kRecord - 0x40, kRecord);
  t.Word(kRecord + 8, kSigned | kInMain);
  EXPECT_EQ(
      Addresses(t.Walk()),
      (std::vector<uint64_t>{kLeaf + 4, kRegisters + 0x20, kInMain, kInStart}));
}

TEST(AppleWalk, S1_3_A3_20_Arm64ChainMustRise) {
  Target t =
      Arm64(kRegisters + 0x20, kRegisters + 0x20, kRecord - 0x40, kRecord);
  t.Word(kMainRecord, kRecord);  // main's record leads back
  t.Word(kMainRecord + 8, kInMain);
  const auto frames = t.Walk();
  EXPECT_LE(frames.size(), 3u);
  EXPECT_NE(t.output.end, WalkEnd::kEndOfStack);
}

// push {r4, r5, r7, lr}; add r7, sp, #8: r7 is the record {r7, lr}.
TEST(AppleWalk, S1_3_Armv7ChainIsThatOfR7) {
  constexpr uint64_t kText = 0xb000;
  Target t(Architecture::kArm);
  t.width = 4;
  t.Code(kText,
         {0xaf02b5b0,    // push {r4, r5, r7, lr}; add r7, sp, #8
          0xffd9f7ff,    // bl (Thumb)
          0x47a04620,    // mov r0, r4; blx r4
          0xeb000010,    // bl (ARM)
          0xe12fff34});  // blx r4 (ARM)
  t.Text(kText, 0x1000);
  t.registers.Set(15, kText + 4);
  t.registers.Set(13, kStack + 0xf8);
  t.registers.Set(7, kStack + 0x100);
  t.registers.Set(11, 0x41414141);  // an ordinary register
  const uint64_t returns[] = {kText + 9, kText + 13, kText + 16, kText + 20};
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t record = kStack + 0x100 + i * 0x40;
    t.Word(record, i == 3 ? 0 : record + 0x40);
    t.Word(record + 4, returns[i]);
  }
  const auto frames = t.Walk();
  EXPECT_EQ(Addresses(frames),
            (std::vector<uint64_t>{
                kText + 4, kText + 9, kText + 13, kText + 16, kText + 20}));
  for (size_t i = 1; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].trust, FrameTrust::kFramePointer);
  }
  EXPECT_EQ(t.output.end, WalkEnd::kEndOfStack);
}

}  // namespace
}  // namespace cairn::capture
