// SPDX-License-Identifier: Apache-2.0
//
// A process whose unwind tables, code and stack are all hostile. The input is
// cut into registers, .eh_frame_hdr, .eh_frame and stack; the first byte picks
// the architecture. Asks for memory safety and for bounds: a walk may not make
// more than a fixed number of reads.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "capture/unwinder.h"

namespace {

using namespace cairn;

constexpr uint64_t kHeader = 0x10000;
constexpr uint64_t kFrames = 0x20000;
constexpr uint64_t kCode = 0x400000;
constexpr uint64_t kStack = 0x700000;
constexpr size_t kMostReads = 5u << 20;

struct Piece {
  uint64_t address;
  const uint8_t* bytes;
  size_t count;
};
struct Memory {
  Piece pieces[4];
  size_t reads;
};

size_t ReadSome(void* context, uint64_t address, void* out, size_t bytes) {
  auto* memory = static_cast<Memory*>(context);
  if (++memory->reads > kMostReads) {
    std::abort();
  }
  for (const Piece& piece : memory->pieces) {
    const uint64_t offset = address - piece.address;
    if (offset < piece.count) {
      const size_t left = piece.count - offset;
      const size_t count = bytes < left ? bytes : left;
      std::memcpy(out, piece.bytes + offset, count);
      return count;
    }
  }
  return 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 64) {
    return 0;
  }
  static const auto table = std::make_unique<capture::ImageTable>();
  static capture::Image storage[1];
  constexpr format::Architecture kArchitectures[] = {
      format::Architecture::kX86_64,
      format::Architecture::kI386,
      format::Architecture::kArm64,
      format::Architecture::kArm};
  capture::Registers registers = {};
  registers.architecture = kArchitectures[data[0] & 3];
  const auto roles = capture::RolesOf(registers.architecture);
  for (int i = 0; i < 33; ++i) {
    registers.Set(i, kStack + 8 * (data[i % 32] & 0x3f));
  }
  uint16_t cuts[2];
  std::memcpy(cuts, data + 2, sizeof(cuts));
  registers.Set(roles.program_counter, kCode + data[1]);
  registers.Set(roles.stack_pointer, kStack);
  const uint8_t* rest = data + 32;
  const size_t bytes = size - 32;
  const size_t header_bytes = cuts[0] % bytes;
  const size_t frames_bytes = cuts[1] % (bytes - header_bytes);
  Memory memory = {{{kHeader, rest, header_bytes},
                    {kFrames, rest + header_bytes, frames_bytes},
                    {kStack,
                     rest + header_bytes + frames_bytes,
                     bytes - header_bytes - frames_bytes},
                    {kCode, data, size}},
                   0};
  capture::Image image = {};
  image.address = kCode;
  image.bytes = 0x1000;
  image.segments[0] = {
      kCode, 0x1000, capture::kSegmentRead | capture::kSegmentExecute, 0};
  image.segment_count = 1;
  const bool with_header = (data[0] & 4) != 0;
  image.eh_frame_hdr = with_header ? kHeader : 0;
  image.eh_frame_hdr_bytes = header_bytes;
  image.eh_frame = kFrames;
  image.eh_frame_bytes = frames_bytes;
  new (table.get()) capture::ImageTable;
  table->Init(storage, 1);
  table->Append(image);

  std::vector<capture::Frame> frames(512);
  capture::WalkInput input = {};
  input.registers = &registers;
  input.memory = {&ReadSome, &memory};
  input.stack_memory = {&ReadSome, &memory};
  input.images = table.get();
  input.limits.most_frames = 4096;
  if ((data[0] & 8) != 0) {
    input.stack = {kStack, kStack + 0x1000};
  }
  capture::WalkOutput output = {};
  output.frames = frames.data();
  WalkStack(input, &output);
  if (output.count == 0 || output.count > frames.size()) {
    std::abort();
  }
  return 0;
}
