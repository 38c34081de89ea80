// SPDX-License-Identifier: Apache-2.0
//
// Expectations from mach-o/loader.h and the layout that ld gives programs.
// Real binaries are read by tests/macho.
#include "capture/macho_image.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "capture/fake_memory.h"
#include "capture/macho_builder.h"

namespace cairn::capture {
namespace {

namespace macho = format::macho;
using Bytes = std::vector<uint8_t>;

constexpr uint64_t kLinked = 0x100000000;
constexpr uint64_t kSlide = 0x4a1c000;
constexpr uint32_t kReadExecute = 5, kReadWrite = 3, kReadOnly = 1;

Bytes Uuid() {
  Bytes uuid(16);
  std::iota(uuid.begin(), uuid.end(), uint8_t{0xa0});
  return uuid;
}

// A program as ld makes it.
MachOBuilder Program() {
  MachOBuilder b;
  b.Segment({"__PAGEZERO", 0, kLinked});
  b.Segment({"__TEXT",
             kLinked,
             0x8000,
             0,
             0x8000,
             kReadExecute,
             {{"__text", kLinked + 0x1000, 0x5000, 0x1000, 0x80000400},
              {"__unwind_info", kLinked + 0x6000, 0x200, 0x6000},
              {"__eh_frame", kLinked + 0x6200, 0x100, 0x6200}}});
  b.Segment({"__DATA",
             kLinked + 0x8000,
             0x4000,
             0x8000,
             0x1000,
             kReadWrite,
             {{"__data", kLinked + 0x8000, 0x100, 0x8000},
              {"__crash_info", kLinked + 0x8100, 0x40, 0x8100}}});
  b.Segment({"__LINKEDIT", kLinked + 0xc000, 0x4000, 0x9000, 0x3333, 1});
  b.Uuid(Uuid());
  return b;
}

struct Filled {
  MachOFacts facts;
  Image image;
  bool ok;
};

std::unique_ptr<Filled> Fill(const MachOBuilder& builder, uint64_t header) {
  FakeMemory memory;
  memory.Put(header, builder.Build());
  auto out = std::make_unique<Filled>();
  out->ok = FillMachOImage(memory.reader(), header, &out->facts, &out->image);
  return out;
}

TEST(MachOImage, S1_6_SegmentsAreMovedBySlideWithoutPageZero) {
  const auto out = Fill(Program(), kLinked + kSlide);
  ASSERT_TRUE(out->ok);
  EXPECT_TRUE(out->facts.whole);
  EXPECT_EQ(out->facts.slide, kSlide);
  EXPECT_EQ(out->facts.pointer_bytes, 8u);
  const Image& image = out->image;
  EXPECT_EQ(image.link_bias, kSlide);
  EXPECT_EQ(image.address, kLinked + kSlide);
  EXPECT_EQ(image.bytes, 0x10000u);
  ASSERT_EQ(image.segment_count, 3u);
  EXPECT_EQ(image.segments[0].address, kLinked + kSlide);
  EXPECT_EQ(image.segments[0].bytes, 0x8000u);
  EXPECT_EQ(image.segments[0].flags, kSegmentRead | kSegmentExecute);
  EXPECT_EQ(image.segments[1].flags, kSegmentRead | kSegmentWrite);
  EXPECT_EQ(image.segments[2].address, kLinked + kSlide + 0xc000);
  EXPECT_EQ(image.segments[2].flags, uint32_t{kSegmentRead});
}

TEST(MachOImage, SectionsUuidAndCpu) {
  const auto out = Fill(Program(), kLinked + kSlide);
  ASSERT_TRUE(out->ok);
  const Image& image = out->image;
  EXPECT_EQ(image.unwind_info, kLinked + kSlide + 0x6000);
  EXPECT_EQ(image.unwind_info_bytes, 0x200u);
  EXPECT_EQ(image.eh_frame, kLinked + kSlide + 0x6200);
  EXPECT_EQ(image.eh_frame_bytes, 0x100u);
  EXPECT_EQ(out->image.crash_info, kLinked + kSlide + 0x8100);
  EXPECT_EQ(out->image.crash_info_bytes, 0x40u);
  EXPECT_EQ(Bytes(image.id, image.id + image.id_bytes), Uuid());
  EXPECT_EQ(image.id_derived, 0u);
  EXPECT_EQ(image.cpu_type, macho::kCpuX86_64);
  EXPECT_EQ(out->facts.file_type, macho::kFileExecute);
}

TEST(MachOImage, A7_30_CpuSubtypeKeepsItsFlags) {
  MachOBuilder b(true, macho::kCpuArm64, 0x80000002);
  b.Segment({"__TEXT", 0, 0x4000, 0, 0x4000, kReadExecute});
  const auto out = Fill(b, 0x104000000);
  ASSERT_TRUE(out->ok);
  EXPECT_EQ(out->image.cpu_type, macho::kCpuArm64);
  EXPECT_EQ(out->image.cpu_subtype, 0x80000002u);
  EXPECT_STREQ(
      macho::ArchitectureName(out->image.cpu_type, out->image.cpu_subtype),
      "arm64e");
}

TEST(MachOImage, A6_1_SlideMayWrap) {
  MachOBuilder b;
  b.Segment({"__TEXT", 0x7fff20000000, 0x1000, 0, 0x1000, kReadExecute});
  b.Segment({"__DATA", 0x7fff20001000, 0x1000, 0, 0, kReadWrite});
  const auto out = Fill(b, 0x10000);  // below where it was linked
  ASSERT_TRUE(out->ok);
  EXPECT_EQ(out->image.address, 0x10000u);
  EXPECT_EQ(out->image.bytes, 0x2000u);
  EXPECT_EQ(0x7fff20000000 + out->facts.slide, 0x10000u);
}

// In the shared cache __TEXT has the cache's file offsets, and all images share
// one __LINKEDIT.
TEST(MachOImage, A6_2_SharedCacheLinkeditIsNobodys) {
  MachOBuilder b;
  b.SetFlags(macho::kFlagInSharedCache);
  b.SetFileType(macho::kFileDylib);
  b.Segment({"__TEXT", 0x7ff800100000, 0x3000, 0x100000, 0x3000, kReadExecute});
  b.Segment({"__DATA_DIRTY",
             0x7ff840000000,
             0x1000,
             0x40000000,
             0x1000,
             kReadWrite,
             {{"__crash_info", 0x7ff840000800, 0x40}}});
  b.Segment({"__LINKEDIT", 0x7ff880000000, 0x9000000, 0, 0x9000000, 1});
  const auto out = Fill(b, 0x7ff800100000 + 0x8000);
  ASSERT_TRUE(out->ok);
  EXPECT_EQ(out->facts.slide, 0x8000u);
  ASSERT_EQ(out->image.segment_count, 2u);
  EXPECT_EQ(out->image.segments[1].address, 0x7ff840008000u);
  EXPECT_EQ(out->image.crash_info, 0x7ff840008800u);  // A6.7
}

TEST(MachOImage, CrashInfoMessages) {
  FakeMemory memory;
  memory.Put(kLinked, Program().Build());
  memory.Put(kLinked + 0x8100,
             {5, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
              0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9, 0, 0, 0, 0, 0});
  auto image = std::make_unique<Image>();
  ASSERT_TRUE(FillMachImage(memory.reader(), kLinked, image.get()));
  EXPECT_EQ(image->header, kLinked);
  EXPECT_EQ(CrashInfoMessage(memory.reader(), *image, false), 0x030201u);
  EXPECT_EQ(CrashInfoMessage(memory.reader(), *image, true), 0x090807u);
  image->crash_info_bytes = 16;  // an older version's
  EXPECT_EQ(CrashInfoMessage(memory.reader(), *image, true), 0u);
}

TEST(MachOImage, A6_7_CrashInfoOfDataWinsOverDirty) {
  for (bool data_first : {true, false}) {
    MachOBuilder b;
    b.Segment({"__TEXT", 0, 0x1000, 0, 0x1000, kReadExecute});
    const MachOSegmentSpec data = {"__DATA",
                                   0x1000,
                                   0x1000,
                                   0x1000,
                                   0x1000,
                                   kReadWrite,
                                   {{"__crash_info", 0x1000, 0x40}}};
    MachOSegmentSpec dirty = data;
    dirty.name = "__DATA_DIRTY";
    dirty.address = dirty.sections[0].address = 0x2000;
    b.Segment(data_first ? data : dirty);
    b.Segment(data_first ? dirty : data);
    const auto out = Fill(b, 0x50000);
    ASSERT_TRUE(out->ok);
    EXPECT_EQ(out->image.crash_info, 0x51000u);
  }
}

TEST(MachOImage, NarrowImagesOfI386AndArmv7) {
  MachOBuilder b(false, macho::kCpuArm, macho::kSubtypeArmV7);
  b.Segment({"__PAGEZERO", 0, 0x4000});
  b.Segment({"__TEXT",
             0x4000,
             0x8000,
             0,
             0x8000,
             kReadExecute,
             {{"__eh_frame", 0x5000, 0x20}}});
  b.Uuid(Uuid());
  const auto out = Fill(b, 0x2000);  // the slide is −0x2000, in 32 bits
  ASSERT_TRUE(out->ok);
  EXPECT_EQ(out->facts.pointer_bytes, 4u);
  EXPECT_EQ(out->image.address, 0x2000u);
  EXPECT_EQ(out->image.eh_frame, 0x3000u);
  ASSERT_EQ(out->image.segment_count, 1u);
}

TEST(MachOImage, InstallNameAndVersions) {
  MachOBuilder b;
  b.SetFileType(macho::kFileDylib);
  b.Segment({"__TEXT", 0, 0x4000, 0, 0x4000, kReadExecute});
  b.Command(macho::Dylib{macho::kCommandIdDylib, 0, 24, 2, 0x10000, 0x10000},
            std::string("/usr/lib/libfoo.dylib\0", 22));
  b.Command(macho::BuildVersion{
      macho::kCommandBuildVersion, 0, 1, 0x000b0000, 0x000d0100, 0});
  FakeMemory memory;
  memory.Put(0x7000, b.Build());
  auto out = std::make_unique<Filled>();
  ASSERT_TRUE(
      FillMachOImage(memory.reader(), 0x7000, &out->facts, &out->image));
  char name[22];
  ASSERT_TRUE(memory.reader().Read(out->facts.install_name, name, 22));
  EXPECT_STREQ(name, "/usr/lib/libfoo.dylib");
  EXPECT_GE(out->facts.install_name_end, out->facts.install_name + 22);
  EXPECT_EQ(out->facts.platform, 1u);
  EXPECT_EQ(out->facts.minimum_os, 0x000b0000u);
  EXPECT_EQ(out->facts.sdk, 0x000d0100u);
}

TEST(MachOImage, MoreSegmentsThanRoomKeepsTheExecutableOnes) {
  MachOBuilder b;
  b.Segment({"__TEXT", 0, 0x1000, 0, 0x1000, kReadExecute});
  for (uint64_t i = 1; i <= kMaxImageSegments; ++i) {
    b.Segment({"__D", i * 0x1000, 0x1000, 0, 0, kReadOnly});
  }
  b.Segment({"__JIT", 0x100000, 0x1000, 0, 0, kReadExecute});
  const auto out = Fill(b, 0x40000000);
  ASSERT_TRUE(out->ok);
  ASSERT_EQ(out->image.segment_count, kMaxImageSegments);
  EXPECT_EQ(out->image.segments[kMaxImageSegments - 1].address, 0x40100000u);
}

TEST(MachOImage, A4_5_CommandOfSizeZeroEndsTheListNotTheImage) {
  MachOBuilder b = Program();
  b.Raw({1, 0, 0, 0, 0, 0, 0, 0});
  b.Segment({"__LATER", kLinked + 0x20000, 0x1000, 0, 0, kReadOnly});
  const auto out = Fill(b, kLinked);
  ASSERT_TRUE(out->ok);
  EXPECT_FALSE(out->facts.whole);
  EXPECT_EQ(out->image.segment_count, 3u);
}

TEST(MachOImage, A4_8_CommandsBeyondTheirRoomAreNotRead) {
  MachOBuilder b = Program();
  b.ClaimCommands(60000);
  EXPECT_TRUE(Fill(b, kLinked)->ok);
  EXPECT_FALSE(Fill(b, kLinked)->facts.whole);

  // A segment that claims more sections than its command holds.
  Bytes bytes = Program().Build();
  const size_t text = sizeof(macho::Header64) + sizeof(macho::Segment64);
  bytes[text + offsetof(macho::Segment64, nsects)] = 200;
  FakeMemory memory;
  memory.Put(kLinked, bytes);
  auto out = std::make_unique<Filled>();
  EXPECT_TRUE(
      FillMachOImage(memory.reader(), kLinked, &out->facts, &out->image));
  EXPECT_FALSE(out->facts.whole);
}

TEST(MachOImage, A4_4_SizesThatWrapAreLeftOut) {
  MachOBuilder b;
  b.Segment({"__TEXT", 0x1000, 0x1000, 0, 0x1000, kReadExecute});
  b.Segment({"__BAD", 0xfffffffffffff000, 0x2000, 0, 0, kReadExecute});
  b.Segment({"__EMPTY", 0x3000, 0, 0, 0, kReadExecute});
  const auto out = Fill(b, 0x1000);
  ASSERT_TRUE(out->ok);
  EXPECT_EQ(out->image.segment_count, 1u);
}

TEST(MachOImage, WhatIsNoImageIsRefused) {
  FakeMemory memory;
  auto out = std::make_unique<Filled>();
  EXPECT_FALSE(
      FillMachOImage(memory.reader(), 0x1000, &out->facts, &out->image));
  // The other byte order.
  memory.Put(0x1000, {0xfe, 0xed, 0xfa, 0xcf, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                      0,    0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_FALSE(
      FillMachOImage(memory.reader(), 0x1000, &out->facts, &out->image));
  // Nothing that tells the slide: no image, but its cpu is known.
  MachOBuilder b;
  b.Segment({"__DATA", 0x1000, 0x1000, 0x1000, 0x1000, kReadWrite});
  const auto no_text = Fill(b, 0x1000);
  EXPECT_FALSE(no_text->ok);
  EXPECT_EQ(no_text->image.segment_count, 0u);
  EXPECT_EQ(no_text->facts.cpu_type, macho::kCpuX86_64);
}

TEST(MachOImage, A4_19_FewReads) {
  FakeMemory memory;
  const Bytes bytes = Program().Build();
  memory.Put(kLinked, bytes);
  auto out = std::make_unique<Filled>();
  ASSERT_TRUE(
      FillMachOImage(memory.reader(), kLinked, &out->facts, &out->image));
  EXPECT_LE(memory.reads(), 2 + bytes.size() / 400);
}

// Every prefix and every single damaged byte: an answer, never a read outside.
TEST(MachOImage, DamageIsSurvived) {
  const Bytes whole = Program().Build();
  auto out = std::make_unique<Filled>();
  for (size_t i = 0; i < whole.size(); ++i) {
    FakeMemory cut;
    cut.Put(kLinked, Bytes(whole.begin(), whole.begin() + i));
    FillMachOImage(cut.reader(), kLinked, &out->facts, &out->image);
    EXPECT_FALSE(out->facts.whole) << i;
    Bytes damaged = whole;
    damaged[i] ^= 0xff;
    FakeMemory memory;
    memory.Put(kLinked, damaged);
    FillMachOImage(memory.reader(), kLinked, &out->facts, &out->image);
    EXPECT_LE(out->image.segment_count, kMaxImageSegments) << i;
  }
}

}  // namespace
}  // namespace cairn::capture
