// SPDX-License-Identifier: Apache-2.0
//
// Walks over hand-made memory: any architecture, broken stacks.
#include "capture/unwinder.h"

#include <gtest/gtest.h>

#include <memory>

#include "capture/cfi_builder.h"
#include "capture/fake_memory.h"
#include "capture/step.h"

namespace cairn::capture {
namespace {

using Bytes = std::vector<uint8_t>;
using format::Architecture;
using format::FrameKind;
using format::FrameTrust;
using format::WalkEnd;

constexpr uint64_t kCode = 0x400000;
constexpr uint64_t kCodeBytes = 0x10000;
constexpr uint64_t kTables = 0x500000;
constexpr uint64_t kStack = 0x7000000;
constexpr size_t kStackBytes = 0x4000;

// A process with one image, whose code is all calls, and a stack.
struct Process {
  explicit Process(Architecture which) : architecture(which) {
    pointer_bytes = static_cast<size_t>(RolesOf(which).pointer_bytes);
    Bytes code(kCodeBytes);
    const Bytes call = which == Architecture::kArm64
                           ? Bytes{0x00, 0x01, 0x3f, 0xd6}   // blr x8
                           : Bytes{0xff, 0xd0, 0xff, 0xd0};  // call *%rax
    for (size_t i = 0; i < code.size(); ++i) {
      code[i] = call[i % 4];
    }
    memory.Put(kCode, code);
    table->Init(images.data(), 4);
    image.address = kCode;
    image.bytes = kCodeBytes;
    image.segments[0] = {kCode, kCodeBytes, kSegmentRead | kSegmentExecute, 0};
    image.segment_count = 1;
    registers.architecture = which;
  }

  void Set(int role, uint64_t value) { registers.Set(role, value); }
  void SetContext(uint64_t pc, uint64_t sp, uint64_t fp) {
    const RegisterRoles roles = RolesOf(architecture);
    Set(roles.program_counter, pc);
    Set(roles.stack_pointer, sp);
    Set(roles.frame_pointer, fp);
  }
  void Word(uint64_t address, uint64_t value) {
    std::memcpy(stack.data() + (address - kStack), &value, pointer_bytes);
  }
  // A frame record: previous frame pointer, return address.
  void Record(uint64_t at, uint64_t previous, uint64_t return_address) {
    Word(at, previous);
    Word(at + pointer_bytes, return_address);
  }
  void Tables(const CfiBuilder& builder) {
    const Bytes header = builder.Header(kTables - 0x10000);
    image.eh_frame_hdr = kTables - 0x10000;
    image.eh_frame_hdr_bytes = header.size();
    memory.Put(kTables - 0x10000, header);
    memory.Put(kTables, builder.section());
  }
  std::vector<Frame> Walk() {
    table->Append(image);
    table->Reindex();
    memory.Put(kStack, stack);
    WalkInput input = {};
    input.registers = &registers;
    input.memory = memory.reader();
    input.stack_memory = memory.reader();
    input.images = table.get();
    input.stack = {kStack, kStack + kStackBytes};
    std::vector<Frame> frames(512);
    output.frames = frames.data();
    WalkStack(input, &output);
    frames.resize(output.count);
    return frames;
  }

  Architecture architecture;
  size_t pointer_bytes;
  FakeMemory memory;
  Bytes stack = Bytes(kStackBytes);
  Image image = {};
  std::vector<Image> images = std::vector<Image>(4);
  std::unique_ptr<ImageTable> table = std::make_unique<ImageTable>();
  Registers registers = {};
  WalkOutput output = {};
};

void ExpectAddresses(const std::vector<Frame>& frames,
                     const std::vector<uint64_t>& expected) {
  std::vector<uint64_t> addresses;
  for (const Frame& frame : frames) {
    addresses.push_back(frame.address);
  }
  EXPECT_EQ(addresses, expected);
}

// The chain of frame records ends at a null previous.
TEST(Unwinder, S1_3_S5_1_FrameRecordsOfEveryWidth) {
  for (const auto which :
       {Architecture::kX86_64, Architecture::kI386, Architecture::kArm64}) {
    Process p(which);
    const uint64_t width = p.pointer_bytes;
    p.SetContext(kCode + 0x10, kStack + 0x80, kStack + 0x100);
    p.Record(kStack + 0x100, kStack + 0x200, kCode + 0x20);
    p.Record(kStack + 0x200, kStack + 0x300, kCode + 0x30);
    p.Record(kStack + 0x300, 0, kCode + 0x40);
    const auto frames = p.Walk();
    ExpectAddresses(frames,
                    {kCode + 0x10, kCode + 0x20, kCode + 0x30, kCode + 0x40});
    EXPECT_EQ(p.output.end, WalkEnd::kEndOfStack);
    EXPECT_EQ(frames[0].kind, FrameKind::kFault);
    EXPECT_EQ(frames[0].trust, FrameTrust::kContext);
    EXPECT_EQ(frames[1].kind, FrameKind::kReturn);
    EXPECT_EQ(frames[1].trust, FrameTrust::kFramePointer);
    EXPECT_EQ(frames[1].stack_pointer, kStack + 0x100 + 2 * width);
  }
}

TEST(Unwinder, S1_3_ReturnAddressOfZeroEndsTheStack) {
  Process p(Architecture::kX86_64);
  p.SetContext(kCode + 0x10, kStack + 0x80, kStack + 0x100);
  p.Record(kStack + 0x100, 0, 0);
  ExpectAddresses(p.Walk(), {kCode + 0x10});
  EXPECT_EQ(p.output.end, WalkEnd::kEndOfStack);
}

// 32-bit ARM has no frame pointer that compilers agree on.
TEST(Unwinder, A3_22_FramePointerIsNotUsedOnArm) {
  Process p(Architecture::kArm);
  p.SetContext(kCode + 0x10, kStack + 0x80, kStack + 0x100);
  p.Record(kStack + 0x100, 0, kCode + 0x20);
  EXPECT_EQ(p.Walk().size(), 1u);
  EXPECT_EQ(p.output.end, WalkEnd::kNoRule);
}

TEST(Unwinder, A3_20_A4_11_BrokenFramePointersAreRefused) {
  const std::vector<uint64_t> broken = {
      kStack + 0x101,                // misaligned
      kStack + 0x40,                 // below the stack pointer
      kStack + kStackBytes + 0x100,  // outside the stack
      kStack + kStackBytes - 8,      // half a record
      0x4141414141414141,
      ~uint64_t{7}};
  for (const uint64_t frame_pointer : broken) {
    Process p(Architecture::kX86_64);
    p.SetContext(kCode + 0x10, kStack + 0x80, frame_pointer);
    p.Walk();
    EXPECT_EQ(p.output.count, 1u) << std::hex << frame_pointer;
    EXPECT_NE(p.output.end, WalkEnd::kEndOfStack);
  }
}

TEST(Unwinder, A4_5_ChainThatLeadsToItselfEnds) {
  Process p(Architecture::kX86_64);
  p.SetContext(kCode + 0x10, kStack + 0x80, kStack + 0x100);
  p.Record(kStack + 0x100, kStack + 0x200, kCode + 0x20);
  p.Record(kStack + 0x200, kStack + 0x100, kCode + 0x30);
  const auto frames = p.Walk();
  EXPECT_LE(frames.size(), 3u);
  EXPECT_NE(p.output.end, WalkEnd::kEndOfStack);
}

TEST(Unwinder, A3_20_ReturnAddressOutsideOfCodeIsRefused) {
  for (const uint64_t address : {kStack + 0x300,
                                 uint64_t{0x1000},
                                 uint64_t{0x4141414141414141},
                                 kCode + kCodeBytes + 1}) {
    Process p(Architecture::kX86_64);
    p.SetContext(kCode + 0x10, kStack + 0x80, kStack + 0x100);
    p.Record(kStack + 0x100, kStack + 0x200, address);
    EXPECT_EQ(p.Walk().size(), 1u) << std::hex << address;
  }
}

// Code that belongs to no image (made at run time), with frame pointers.
TEST(Unwinder, FramesOfGeneratedCodeAreKept) {
  Process p(Architecture::kX86_64);
  constexpr uint64_t kGenerated = 0x900000;
  p.memory.Put(kGenerated, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0});
  p.SetContext(kCode + 0x10, kStack + 0x80, kStack + 0x100);
  p.Record(kStack + 0x100, kStack + 0x200, kGenerated + 8);
  p.Record(kStack + 0x200, 0, kCode + 0x30);
  ExpectAddresses(p.Walk(), {kCode + 0x10, kGenerated + 8, kCode + 0x30});
  EXPECT_EQ(p.output.end, WalkEnd::kEndOfStack);
}

TEST(Unwinder, A3_24_ScanIsBoundedAndMarked) {
  for (const uint64_t word : {uint64_t{63}, uint64_t{64}}) {
    Process p(Architecture::kX86_64);
    p.SetContext(kCode + 0x10, kStack + 0x80, 1);
    p.Word(kStack + 0x80 + word * 8, kCode + 0x20);
    const auto frames = p.Walk();
    ASSERT_EQ(frames.size(), word == 63 ? 2u : 1u);
    if (word == 63) {
      EXPECT_EQ(frames[1].trust, FrameTrust::kScan);
    }
  }
}

TEST(Unwinder, NullCallOnArm64UsesTheLinkRegister) {
  Process p(Architecture::kArm64);
  p.SetContext(0, kStack + 0x80, kStack + 0x100);
  p.Set(30, kCode + 0x20);
  p.Record(kStack + 0x100, 0, kCode + 0x30);
  const auto frames = p.Walk();
  ExpectAddresses(frames, {0, kCode + 0x20, kCode + 0x30});
  EXPECT_EQ(frames[1].trust, FrameTrust::kLinkRegister);
}

// --- call frame information of other architectures ---

// stp x29, x30, [sp, #-32]!: CFA = sp + 32, x29 at −32, x30 at −24.
TEST(Unwinder, A3_5_Arm64CfiWithSignedReturnAddress) {
  Process p(Architecture::kArm64);
  CfiBuilder builder(kTables);
  const size_t cie = builder.AddCie("zR", {0x1b}, {0x0c, 31, 0}, 30);
  builder.AddFde(
      cie, kCode, 0x100, {0x2d, 0x44, 0x0e, 32, 0x80 | 29, 4, 0x80 | 30, 3});
  // The caller: undefined return address, the outermost.
  builder.AddFde(cie, kCode + 0x100, 0x100, {0x07, 30});
  p.Tables(builder);
  p.SetContext(kCode + 0x10, kStack + 0x80, 0);
  p.Word(kStack + 0x80, 0x1234);
  p.Word(kStack + 0x88, 0xaabb000000000000 | (kCode + 0x120));
  const auto frames = p.Walk();
  ExpectAddresses(frames, {kCode + 0x10, kCode + 0x120});
  EXPECT_EQ(frames[1].trust, FrameTrust::kCfi);
  EXPECT_EQ(frames[1].stack_pointer, kStack + 0xa0);
  EXPECT_EQ(p.output.end, WalkEnd::kEndOfStack);
}

// A leaf has saved nothing: the link register, and an equal stack pointer. Once
// only: the caller's own link register is gone.
TEST(Unwinder, S1_4_A3_1_Arm64LeafUsesTheLinkRegisterOnce) {
  Process p(Architecture::kArm64);
  CfiBuilder builder(kTables);
  const size_t cie = builder.AddCie("zR", {0x1b}, {0x0c, 31, 0}, 30);
  builder.AddFde(cie, kCode, 0x200, {});
  p.Tables(builder);
  p.SetContext(kCode + 0x10, kStack + 0x80, kStack + 0x100);
  p.Set(30, kCode + 0x80);
  p.Record(kStack + 0x100, 0, kCode + 0x300);
  const auto frames = p.Walk();
  ExpectAddresses(frames, {kCode + 0x10, kCode + 0x80, kCode + 0x300});
  EXPECT_EQ(frames[1].stack_pointer, kStack + 0x80);
  // Call frame information had no answer; the frame record took over.
  EXPECT_EQ(frames[2].trust, FrameTrust::kFramePointer);
}

TEST(Unwinder, I386CfiReadsFourBytes) {
  Process p(Architecture::kI386);
  CfiBuilder builder(kTables);
  // CFA = esp + 16, ebp at −16 (data alignment −8: factor 2), eip at −8.
  const size_t cie =
      builder.AddCie("zR", {0x1b}, {0x0c, 4, 16, 0x80 | 8, 1, 0x80 | 5, 2}, 8);
  builder.AddFde(cie, kCode, 0x100, {});
  builder.AddFde(cie, kCode + 0x100, 0x100, {0x07, 8});
  p.Tables(builder);
  p.SetContext(kCode + 0x10, kStack + 0x80, 0);
  p.Word(kStack + 0x80, 0xcafe);
  p.Word(kStack + 0x88, kCode + 0x120);
  const auto frames = p.Walk();
  ExpectAddresses(frames, {kCode + 0x10, kCode + 0x120});
  EXPECT_EQ(frames[1].stack_pointer, kStack + 0x90);
  EXPECT_EQ(p.output.end, WalkEnd::kEndOfStack);
}

// Look-up of a return address is in the call: the call is the function's last
// instruction, and the next function's rule would be another.
TEST(Unwinder, S5_2_A3_4_ReturnAddressIsLookedUpInTheCall) {
  Process p(Architecture::kX86_64);
  CfiBuilder builder(kTables);
  const size_t cie = builder.AddCie("zR", {0x1b}, {0x0c, 7, 8, 0x80 | 16, 1});
  builder.AddFde(cie, kCode, 0x100, {0x0e, 24});
  builder.AddFde(cie, kCode + 0x100, 0x100, {0x0e, 40});
  builder.AddFde(cie, kCode + 0x200, 0x100, {0x07, 16});
  p.Tables(builder);
  p.SetContext(kCode + 0x100, kStack + 0x80, 0);  // fault: at its own address
  p.Word(kStack + 0x80 + 32, kCode + 0x100);      // return: in the first
  p.Word(kStack + 0x80 + 40 + 16, kCode + 0x280);
  ExpectAddresses(p.Walk(), {kCode + 0x100, kCode + 0x100, kCode + 0x280});
  EXPECT_EQ(p.output.end, WalkEnd::kEndOfStack);
}

// As glibc describes the last instructions of longjmp: CFA = rdi, the stack
// pointer is in r8 (already set, too), the program counter in rdx.
TEST(Unwinder, StackPointerWithARuleOfItsOwnIsNotTheCfa) {
  Process p(Architecture::kX86_64);
  CfiBuilder builder(kTables);
  const size_t cie = builder.AddCie("zR", {0x1b}, {0x0c, 7, 8, 0x80 | 16, 1});
  builder.AddFde(
      cie, kCode, 0x100, {0x0c, 5, 0, 0x09, 7, 8, 0x09, 16, 1, 0x08, 3});
  builder.AddFde(cie, kCode + 0x100, 0x100, {0x0e, 24});
  builder.AddFde(cie, kCode + 0x200, 0x100, {0x07, 16});
  p.Tables(builder);
  p.SetContext(kCode + 0x10, kStack + 0x80, 0);
  p.Set(5, 0x600000);  // a jmp_buf, nowhere near the stack
  p.Set(8, kStack + 0x80);
  p.Set(1, kCode + 0x180);
  p.Word(kStack + 0x80 + 16, kCode + 0x280);
  ExpectAddresses(p.Walk(), {kCode + 0x10, kCode + 0x180, kCode + 0x280});
  EXPECT_EQ(p.output.end, WalkEnd::kEndOfStack);
}

// Frames below a signal frame are looked up at their own address, may lie on a
// lower stack, and may be at address 0.
TEST(Unwinder, A3_40_SignalFrameMakesTheNextOneInterrupted) {
  Process p(Architecture::kX86_64);
  CfiBuilder builder(kTables);
  const size_t plain = builder.AddCie("zR", {0x1b}, {0x0c, 7, 8, 0x80 | 16, 1});
  // rip at CFA − 8, rsp at CFA − 16, where the CFA is rsp + 32.
  const size_t signal =
      builder.AddCie("zRS", {0x1b}, {0x0c, 7, 32, 0x80 | 16, 1, 0x80 | 7, 2});
  builder.AddFde(signal, kCode, 0x100, {});
  builder.AddFde(plain, kCode + 0x100, 0x100, {0x0e, 24});
  builder.AddFde(plain, kCode + 0x200, 0x100, {0x07, 16});
  p.Tables(builder);
  p.SetContext(kCode + 0x10, kStack + 0x1000, 0);
  p.Word(kStack + 0x1018, kCode + 0x100);  // interrupted at a first instruction
  p.Word(kStack + 0x1010, kStack + 0x80);  // far below
  p.Word(kStack + 0x80 + 16, kCode + 0x280);
  const auto frames = p.Walk();
  ExpectAddresses(frames, {kCode + 0x10, kCode + 0x100, kCode + 0x280});
  EXPECT_EQ(frames[1].kind, FrameKind::kInterrupted);
  EXPECT_EQ(frames[2].kind, FrameKind::kReturn);
  EXPECT_EQ(p.output.end, WalkEnd::kEndOfStack);
}

// Signal frames that lead to each other for ever.
TEST(Unwinder, EndlessSignalFramesEndAsALoop) {
  Process p(Architecture::kX86_64);
  CfiBuilder builder(kTables);
  const size_t signal =
      builder.AddCie("zRS", {0x1b}, {0x0c, 7, 32, 0x80 | 16, 1, 0x80 | 7, 2});
  builder.AddFde(signal, kCode, 0x100, {});
  p.Tables(builder);
  p.SetContext(kCode + 0x10, kStack + 0x1000, 1);
  p.Word(kStack + 0x1018, kCode + 0x10);
  p.Word(kStack + 0x1010, kStack + 0x1000);
  EXPECT_LT(p.Walk().size(), 30u);
  EXPECT_EQ(p.output.end, WalkEnd::kLoop);
}

// Rules that lead inwards again: CFA = rbp + 16 with rbp below the stack
// pointer.
TEST(Unwinder, StackPointerThatFallsEndsAsALoop) {
  Process p(Architecture::kX86_64);
  CfiBuilder builder(kTables);
  const size_t cie = builder.AddCie("zR", {0x1b}, {0x0c, 6, 16, 0x80 | 16, 1});
  builder.AddFde(cie, kCode, 0x100, {});
  p.Tables(builder);
  p.SetContext(kCode + 0x10, kStack + 0x2000, kStack + 0x100);
  p.Word(kStack + 0x108, kCode + 0x20);
  EXPECT_EQ(p.Walk().size(), 1u);
  EXPECT_EQ(p.output.end, WalkEnd::kLoop);
}

TEST(Unwinder, UnreadableStackSaysSo) {
  Process p(Architecture::kX86_64);
  CfiBuilder builder(kTables);
  const size_t cie = builder.AddCie("zR", {0x1b}, {0x0c, 7, 8, 0x80 | 16, 1});
  builder.AddFde(cie, kCode, 0x100, {});
  p.Tables(builder);
  p.SetContext(kCode + 0x10, 0x6000000, 1);
  EXPECT_EQ(p.Walk().size(), 1u);
  EXPECT_EQ(p.output.end, WalkEnd::kUnreadable);
}

TEST(Unwinder, StrategiesAreAListOfTheCaller) {
  Process p(Architecture::kX86_64);
  p.SetContext(kCode + 0x10, kStack, 0);
  p.table->Append(p.image);
  WalkInput input = {};
  input.registers = &p.registers;
  input.memory = p.memory.reader();
  input.stack_memory = p.memory.reader();
  input.images = p.table.get();
  input.limits = {.inner_frames = 3,
                  .outer_frames = 4,
                  .most_frames = 1000,
                  .scan_words = 0};
  Frame frames[7];
  WalkOutput output = {};
  output.frames = frames;
  const StepFunction each_eight_bytes[] = {
      [](WalkState*, const FrameState& frame, FrameState* caller) {
        *caller = frame;
        caller->kind = FrameKind::kReturn;
        caller->trust = FrameTrust::kCfi;
        const uint64_t sp = StackPointer(frame.registers) + 8;
        caller->registers.Set(7, sp);
        caller->registers.Set(16, kCode + 0x100 + (sp - kStack) / 8);
        return sp - kStack == 8 * 20 ? StepResult::kEnd : StepResult::kCaller;
      }};
  WalkStackWith(each_eight_bytes, 1, input, &output);
  // Frames 0 to 19: three inner, four outer, thirteen left out.
  EXPECT_EQ(output.count, 7u);
  EXPECT_EQ(output.gap_position, 3u);
  EXPECT_EQ(output.gap_frames, 13u);
  EXPECT_EQ(output.end, WalkEnd::kEndOfStack);
  EXPECT_EQ(frames[2].address, kCode + 0x102);
  EXPECT_EQ(frames[3].address, kCode + 0x110);
  EXPECT_EQ(frames[6].address, kCode + 0x113);
}

}  // namespace
}  // namespace cairn::capture
