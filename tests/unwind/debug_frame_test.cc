// SPDX-License-Identifier: Apache-2.0
//
// A walk through functions that only .debug_frame describes: with the section's
// bytes handed in, each frame is found by them.
#include <gtest/gtest.h>

#include "capture/cfi_table.h"
#include "capture/context_linux.h"
#include "symbolicate/elf_file.h"
#include "tests/unwind/own_walk.h"

extern "C" long cairn_dynamic_frame(void (*callback)(void), int bytes);

namespace cairn::capture {
namespace {

struct Walked {
  std::vector<Frame> frames = std::vector<Frame>(64);
  WalkOutput output = {};
};
const unwind_tests::OwnImages* images;
const ImageDebugFrames* debug_frames;
Walked walked;

size_t ReadVector(void* context, uint64_t address, void* out, size_t bytes) {
  const auto& all = *static_cast<std::vector<uint8_t>*>(context);
  if (address >= all.size()) {
    return 0;
  }
  const size_t count = std::min<size_t>(bytes, all.size() - address);
  std::memcpy(out, all.data() + address, count);
  return count;
}

void WalkHere() {
  Registers registers;
  RegistersHere(&registers);
  WalkInput input = images->Input(registers);
  input.debug_frames = debug_frames;
  input.debug_frame_count = debug_frames == nullptr ? 0 : 1;
  input.limits.inner_frames = walked.frames.size();
  input.limits.outer_frames = 0;
  walked.output.frames = walked.frames.data();
  WalkStack(input, &walked.output);
}

// Frames found by call frame information before the first that was not.
size_t FramesByCfi() {
  size_t count = 1;
  while (count < walked.output.count &&
         walked.frames[count].trust == format::FrameTrust::kCfi) {
    ++count;
  }
  return count;
}

TEST(DebugFrame, HandedInItDescribesWhatEhFrameDoesNot) {
  unwind_tests::OwnImages own;
  images = &own;
  debug_frames = nullptr;
  cairn_dynamic_frame(&WalkHere, 100);
  EXPECT_LE(FramesByCfi(), 2u);  // this part of the program has no .eh_frame

  std::string error;
  symbolicate::OpenError open_error = {};
  const auto source =
      symbolicate::OpenFileSource("/proc/self/exe", &open_error, &error);
  ASSERT_NE(source, nullptr) << error;
  const auto file = symbolicate::ElfFile::Parse(source, &error);
  ASSERT_NE(file, nullptr) << error;
  const auto* section = file->FindSection(".debug_frame");
  ASSERT_NE(section, nullptr);
  auto bytes = file->Contents(*section, 1 << 24);
  ASSERT_TRUE(bytes.has_value());
  const DebugFrames frames = {{&ReadVector, &*bytes}, 0, bytes->size()};
  const ImageDebugFrames of_image = {
      own.table().Find(reinterpret_cast<uint64_t>(&cairn_dynamic_frame)),
      &frames};
  debug_frames = &of_image;
  cairn_dynamic_frame(&WalkHere, 100);
  EXPECT_EQ(FramesByCfi(), walked.output.count);
  EXPECT_EQ(walked.output.end, format::WalkEnd::kEndOfStack);
  EXPECT_GT(walked.output.count, 8u);
  debug_frames = nullptr;
}

}  // namespace
}  // namespace cairn::capture
