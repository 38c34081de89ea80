// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "samples/sample_parts.h"
#include "samples/samples.h"

namespace cairn::samples {
namespace {

using format::Field;
using format::FrameKind;
using format::FrameTrust;

constexpr SampleImage kImages[] = {
    {"/opt/player/bin/player", 0x400000, 0x42000, 0x01},
    {"/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
     0x7f1200000000,
     0x220000,
     0x21},
    {"/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7f1210000000, 0x1e5000, 0x41},
    {"/opt/player/lib/old codec.so", 0x7f1220000000, 0x9000, 0x61}};

// Ids and kinds that this version does not have.
constexpr Field kLaterField = static_cast<Field>(4000);
constexpr Field kLaterGroup = static_cast<Field>(4001);
constexpr Field kLaterAppField = static_cast<Field>(4002);

enum class Unloaded { kLoose, kInAGroup };

void PutFacts(SampleFile* file, Unloaded unloaded) {
  file->Group(Field::kApp, [&] {
    file->Text(Field::kAppId, "org.example.player");
    file->Text(Field::kAppVersion, "2.0.0-beta");
    file->Text(kLaterAppField, "from a later version");
  });
  PutHost(file);
  file->Group(Field::kProcess, [&] {
    file->Number(Field::kProcessId, 900);
    file->Text(Field::kProcessName, "player");
    file->Text(Field::kProcessPath, "/opt/player/bin/player");
    file->Text(Field::kProcessArgument, "player");
    // Latin-1, as a command line may be.
    file->Text(Field::kProcessArgument, "Caf\xe9.ogg");
  });
  for (const SampleImage& image : kImages) {
    PutImage(file, image);
  }
  if (unloaded == Unloaded::kLoose) {
    file->Number(Field::kImageUnloaded, 3);
  } else {
    file->Group(Field::kUnloadedImages,
                [&] { file->Number(Field::kUnloadedImage, 3); });
  }
}

void PutEvent(SampleFile* file) {
  file->Group(Field::kEvent, [&] {
    file->Number(Field::kEventKind,
                 static_cast<uint64_t>(format::EventKind::kCrash));
    file->Number(Field::kEventTimeNs, kSampleTimeNs);
    file->Number(Field::kEventUptimeMs, 5025);
    file->Number(Field::kEventProcessId, 901);
    file->Group(Field::kSignal, [&] {
      file->Number(Field::kSignalNumber, 6);
      file->Signed(Field::kSignalCode, -6);
      file->Number(Field::kSignalSenderPid, 901);
      file->Number(Field::kSignalSenderUid, 1000);
    });
    file->Group(Field::kException, [&] {
      file->Text(Field::kExceptionTypeMangled, "N6player11DecodeErrorE");
      file->Text(Field::kExceptionMessage,
                 "bad frame \"17\" \xe2\x80\x94 give up");
    });
    file->Text(Field::kAbortMessage,
               "terminate called after throwing an instance of "
               "'player::DecodeError'");
  });
}

void PutLaterGroup(SampleFile* file) {
  file->Group(kLaterGroup, [&] {
    file->Number(kLaterField, 77);
    file->Bytes(kLaterField, {1, 2, 3});
  });
}

void PutCrashedThread(SampleFile* file, std::vector<uint64_t>* registers) {
  file->Group(Field::kThread, [&] {
    file->Number(Field::kThreadId, 905);
    file->Text(Field::kThreadName, "decoder");
    file->Number(Field::kThreadCrashed, 1);
    file->Number(Field::kThreadState, 'R');
    file->Number(Field::kThreadCpuTimeMs, 2750);
    file->Number(Field::kThreadFrozenBy,
                 static_cast<uint64_t>(format::FrozenBy::kSelf));
    file->Pack(Field::kThreadRegisters,
               Registers({{0, 0},
                          {6, 0x7f1230000f40},
                          {7, 0x7f1230000e80},
                          {16, 0x7f121008aec0}},
                         registers));
    // Nodes 1 to 8.
    file->Pack(
        Field::kThreadFrames,
        Stack(0,
              {{2, 0x10985c, FrameTrust::kCfi, FrameKind::kReturn},
               {2, 0x891c4, FrameTrust::kCfi, FrameKind::kReturn},
               {0, 0x5210, FrameTrust::kFramePointer, FrameKind::kReturn},
               {3, 0x1234, FrameTrust::kScan, FrameKind::kReturn},
               {0, 0x4100, FrameTrust::kScan, FrameKind::kReturn},
               {1, 0xb0701, FrameTrust::kCfi, FrameKind::kReturn},
               {2, 0x26537, FrameTrust::kCfi, FrameKind::kReturn},
               {2, 0x8aec0, FrameTrust::kContext, FrameKind::kFault}}));
    file->Number(Field::kThreadWalkEnd,
                 static_cast<uint64_t>(format::WalkEnd::kNoRule));
    file->Pack(Field::kThreadFramesDropped, Packed().Add(5).Add(120));
  });
  file->Group(Field::kCut, [&] {
    file->Number(Field::kCutWhat,
                 static_cast<uint64_t>(format::CutWhat::kFrames));
    file->Number(Field::kCutKept, 8);
    file->Number(Field::kCutDropped, 120);
    file->Number(Field::kCutThreadId, 905);
  });
}

// 40 workers in the same wait (nodes 9 to 12); every tenth one deeper and at an
// address of no image.
void PutWorkers(SampleFile* file, std::vector<uint64_t>* registers) {
  for (uint64_t i = 0; i < 40; ++i) {
    file->Group(Field::kThread, [&] {
      file->Number(Field::kThreadId, 910 + i);
      file->Text(Field::kThreadName, "pool-" + std::to_string(i));
      file->Number(Field::kThreadState, 'S');
      file->Number(Field::kThreadFrozenBy,
                   static_cast<uint64_t>(format::FrozenBy::kPtrace));
      file->Pack(Field::kThreadRegisters,
                 Registers({{0, 0xfffffffffffffe00},
                            {7, 0x7f1240000000 + i * 0x801000},
                            {16, 0x7f121008ae13}},
                           registers));
      Packed stack = Stack(i == 0 ? 0 : 12, {});
      if (i == 0) {
        stack = Stack(2,
                      {{0, 0x6000, FrameTrust::kCfi, FrameKind::kReturn},
                       {0, 0x6100, FrameTrust::kCfi, FrameKind::kReturn},
                       {2, 0x8d000, FrameTrust::kCfi, FrameKind::kReturn},
                       {2, 0x8ae13, FrameTrust::kContext, FrameKind::kReturn}});
      } else if (i % 10 == 0) {
        stack = Stack(11,
                      {{-1,
                        0x7f12ffff0010,
                        FrameTrust::kContext,
                        FrameKind::kInterrupted}});
      }
      file->Pack(Field::kThreadFrames, stack);
      file->Number(Field::kThreadWalkEnd,
                   static_cast<uint64_t>(format::WalkEnd::kEndOfStack));
    });
  }
}

void PutTrail(SampleFile* file) {
  file->Group(Field::kKey, [&] {
    file->Text(Field::kKeyName, "user tier");
    file->Text(Field::kKeyValue, "gold");
  });
  file->Group(Field::kKey, [&] {
    file->Text(Field::kKeyName, "codec");
    file->Text(Field::kKeyValue, "opus\n48 kHz");
  });
  for (uint64_t i = 0; i < 3; ++i) {
    file->Group(Field::kBreadcrumb, [&] {
      file->Number(Field::kBreadcrumbTimeNs,
                   kSampleTimeNs - (3 - i) * 1000000000);
      file->Text(Field::kBreadcrumbCategory, i == 1 ? "network" : "ui");
      file->Text(Field::kBreadcrumbMessage, "step " + std::to_string(i + 1));
    });
  }
  file->Group(Field::kMemory, [&] {
    file->Address(Field::kMemoryAddress, 0x7f1230000e80);
    file->Text(Field::kMemoryReason, "rsp");
    file->Bytes(Field::kMemoryBytes, {0xde, 0xad, 0xbe, 0xef, 0, 1, 2, 3});
  });
  file->Group(Field::kCut, [&] {
    file->Number(Field::kCutWhat,
                 static_cast<uint64_t>(format::CutWhat::kThreads));
    file->Number(Field::kCutKept, 41);
    file->Number(Field::kCutDropped, 3);
  });
}

void PutNames(SampleFile* file) {
  file->Group(Field::kSymbols, [&] {
    PutSymbol(file, {1}, {{"clone3", "", "", 0x2c, 0, 0, false}});
    PutSymbol(file, {2}, {{"start_thread", "", "", 0x304, 0, 0, false}});
    PutSymbol(file,
              {5},
              {{"player::Bits::Next()",
                "_ZN6player4Bits4NextEv",
                "/src/player/bits.h",
                0x60,
                44,
                12,
                true},
               {"player::Decoder::Step()",
                "_ZN6player7Decoder4StepEv",
                "/src/player/decoder.cc",
                0x60,
                118,
                9,
                false}});
    PutSymbol(file, {7}, {{"abort", "", "", 0xd7, 0, 0, false}});
    PutSymbol(file,
              {8},
              {{"__pthread_kill_implementation", "", "", 0x10c, 0, 0, false}});
    PutSymbol(file,
              {9, 10},
              {{"player::Pool::Loop()",
                "_ZN6player4Pool4LoopEv",
                "/src/player/pool.cc",
                0x20,
                61,
                0,
                false}});
    file->Group(Field::kSymbolsImage, [&] {
      file->Number(Field::kSymbolsImageIndex, 3);
      file->Text(Field::kSymbolsImageStatus, "missing");
    });
  });
}

std::vector<uint8_t> Made(Unloaded unloaded) {
  SampleFile file(0xa0);
  std::vector<uint64_t> registers;
  file.header().format_version = format::kFormatVersion + 1;
  PutFacts(&file, unloaded);
  PutEvent(&file);
  PutCrashedThread(&file, &registers);
  PutLaterGroup(&file);
  PutWorkers(&file, &registers);
  PutTrail(&file);
  file.Group(Field::kStage, [&] {
    file.Number(Field::kStageDone, 2);
    file.Number(Field::kStageFreeze,
                static_cast<uint64_t>(format::FrozenBy::kPtrace));
    file.Number(Field::kStageElapsedNs, 9300000);
  });
  file.BeginSection();
  PutNames(&file);
  return file.Finish();
}

}  // namespace

std::vector<uint8_t> Rich() {
  return Made(Unloaded::kLoose);
}

std::vector<uint8_t> RichOfToday() {
  return Made(Unloaded::kInAGroup);
}

}  // namespace cairn::samples
