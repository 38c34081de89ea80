// SPDX-License-Identifier: Apache-2.0
#include "samples/sample_parts.h"
#include "samples/samples.h"

namespace cairn::samples {
namespace {

using format::Field;
using format::FrameKind;
using format::FrameTrust;

constexpr SampleImage kImages[] = {
    {"/opt/shop/bin/shop", 0x555555554000, 0x8000, 0x10},
    {"/usr/lib/x86_64-linux-gnu/libc.so.6", 0x7ffff7c00000, 0x1e5000, 0x30},
    {"/lib64/ld-linux-x86-64.so.2", 0x7ffff7fc5000, 0x37000, 0x50},
    {"linux-vdso.so.1", 0x7ffff7fc1000, 0x4000, 0x70}};

void PutFacts(SampleFile* file) {
  file->Group(Field::kApp, [&] {
    file->Text(Field::kAppId, "org.example.shop");
    file->Text(Field::kAppVersion, "1.4.2");
    file->Text(Field::kAppBuild, "1042");
    file->Text(Field::kAppEnvironment, "production");
  });
  PutHost(file);
  file->Group(Field::kProcess, [&] {
    file->Number(Field::kProcessId, 4711);
    file->Number(Field::kProcessParentId, 1);
    file->Text(Field::kProcessName, "shop");
    file->Text(Field::kProcessPath, "/opt/shop/bin/shop");
    file->Text(Field::kProcessArgument, "shop");
    file->Text(Field::kProcessArgument, "--port=8080");
    file->Number(Field::kProcessInstallTimeNs, kSampleTimeNs - 61000000000);
  });
  for (const SampleImage& image : kImages) {
    PutImage(file, image);
  }
}

void PutEvent(SampleFile* file) {
  file->Group(Field::kEvent, [&] {
    file->Number(Field::kEventKind,
                 static_cast<uint64_t>(format::EventKind::kCrash));
    file->Number(Field::kEventTimeNs, kSampleTimeNs);
    file->Number(Field::kEventUptimeMs, 61000);
    file->Group(Field::kSignal, [&] {
      file->Number(Field::kSignalNumber, 11);
      file->Signed(Field::kSignalCode, 1);
      file->Address(Field::kSignalFaultAddress, 0);
      file->Number(Field::kSignalFaultKind,
                   static_cast<uint64_t>(format::FaultKind::kNullPage));
      file->Number(Field::kSignalTrap, 14);
      file->Number(Field::kSignalTrapError, 4);
    });
  });
}

void PutCrashedThread(SampleFile* file, std::vector<uint64_t>* registers) {
  file->Group(Field::kThread, [&] {
    file->Number(Field::kThreadId, 4711);
    file->Text(Field::kThreadName, "shop");
    file->Number(Field::kThreadCrashed, 1);
    file->Number(Field::kThreadState, 'R');
    file->Number(Field::kThreadFrozenBy,
                 static_cast<uint64_t>(format::FrozenBy::kSelf));
    file->Pack(Field::kThreadRegisters,
               Registers({{0, 0},
                          {1, 0x2a},
                          {2, 0x7ffff7d14a37},
                          {3, 0x7fffffffe5a8},
                          {4, 0x7fffffffe598},
                          {5, 0},
                          {6, 0x7fffffffe460},
                          {7, 0x7fffffffe440},
                          {12, 0},
                          {16, 0x555555555149},
                          {17, 0x10246},
                          {18, 0x33}},
                         registers));
    // Nodes 1 to 5, outermost first: _start … crash_here.
    file->Pack(Field::kThreadFrames,
               Stack(0,
                     {{0, 0x1061, FrameTrust::kCfi, FrameKind::kReturn},
                      {1, 0x27305, FrameTrust::kCfi, FrameKind::kReturn},
                      {1, 0x2724a, FrameTrust::kCfi, FrameKind::kReturn},
                      {0, 0x1179, FrameTrust::kCfi, FrameKind::kReturn},
                      {0, 0x1149, FrameTrust::kContext, FrameKind::kFault}}));
    file->Number(Field::kThreadWalkEnd,
                 static_cast<uint64_t>(format::WalkEnd::kEndOfStack));
    file->Group(Field::kThreadStack, [&] {
      file->Address(Field::kThreadStackAddress, 0x7fffffffe440);
      std::vector<uint8_t> bytes(64);
      for (size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<uint8_t>(i * 7);
      }
      file->Bytes(Field::kThreadStackBytes, bytes);
    });
    file->Address(Field::kThreadStackLow, 0x7ffffffde000);
    file->Address(Field::kThreadStackHigh, 0x7ffffffff000);
  });
  file->Group(Field::kStage, [&] {
    file->Number(Field::kStageDone, 1);
    file->Number(Field::kStageElapsedNs, 310000);
  });
}

void PutWaitingThread(SampleFile* file,
                      uint64_t id,
                      std::string_view name,
                      uint64_t shared,
                      uint64_t stack_pointer,
                      std::vector<uint64_t>* registers) {
  file->Group(Field::kThread, [&] {
    file->Number(Field::kThreadId, id);
    file->Text(Field::kThreadName, name);
    file->Number(Field::kThreadState, 'S');
    file->Number(Field::kThreadFrozenBy,
                 static_cast<uint64_t>(format::FrozenBy::kPtrace));
    file->Pack(
        Field::kThreadRegisters,
        Registers(
            {{0, 0xfffffffffffffe00}, {7, stack_pointer}, {16, 0x7ffff7c8ae13}},
            registers));
    // Nodes 6 to 9: clone3, start_thread, worker, futex wait.
    file->Pack(
        Field::kThreadFrames,
        shared != 0
            ? Stack(shared, {})
            : Stack(0,
                    {{1, 0x10985c, FrameTrust::kCfi, FrameKind::kReturn},
                     {1, 0x891c4, FrameTrust::kCfi, FrameKind::kReturn},
                     {0, 0x11b2, FrameTrust::kCfi, FrameKind::kReturn},
                     {1, 0x8ae13, FrameTrust::kContext, FrameKind::kReturn}}));
    file->Number(Field::kThreadWalkEnd,
                 static_cast<uint64_t>(format::WalkEnd::kEndOfStack));
  });
}

void PutNames(SampleFile* file) {
  file->Group(Field::kSymbols, [&] {
    PutSymbol(file, {1}, {{"_start", "", "", 0x21, 0, 0, false}});
    PutSymbol(file,
              {2},
              {{"__libc_start_main_impl",
                "",
                "../csu/libc-start.c",
                0x85,
                360,
                3,
                false}});
    PutSymbol(file,
              {3},
              {{"__libc_start_call_main",
                "",
                "../sysdeps/nptl/libc_start_call_main.h",
                0x7a,
                58,
                16,
                false}});
    PutSymbol(
        file, {4}, {{"main", "", "/src/shop/main.cc", 0x12, 31, 3, false}});
    PutSymbol(file,
              {5},
              {{"crash_here(int*)",
                "_Z10crash_herePi",
                "/src/shop/main.cc",
                0x10,
                12,
                10,
                false}});
    PutSymbol(file, {6}, {{"clone3", "", "", 0x2c, 0, 0, false}});
    PutSymbol(file, {7}, {{"start_thread", "", "", 0x304, 0, 0, false}});
    PutSymbol(file,
              {8},
              {{"shop::Worker::Run()",
                "_ZN4shop6Worker3RunEv",
                "/src/shop/worker.cc",
                0x32,
                77,
                5,
                false}});
    PutSymbol(file,
              {9},
              {{"__futex_abstimed_wait_common", "", "", 0xd3, 0, 0, false}});
    file->Group(Field::kSymbolsImage, [&] {
      file->Number(Field::kSymbolsImageIndex, 0);
      file->Text(Field::kSymbolsImageStatus, "ok");
    });
    file->Group(Field::kSymbolsImage, [&] {
      file->Number(Field::kSymbolsImageIndex, 1);
      file->Text(Field::kSymbolsImageStatus, "ok");
    });
  });
}

}  // namespace

std::vector<uint8_t> Simple() {
  SampleFile file(0x01);
  std::vector<uint64_t> registers;
  PutFacts(&file);
  PutEvent(&file);
  PutCrashedThread(&file, &registers);
  PutWaitingThread(&file, 4712, "worker-1", 0, 0x7ffff7bfed10, &registers);
  PutWaitingThread(&file, 4713, "worker-2", 9, 0x7ffff73fdd10, &registers);
  file.Group(Field::kStage, [&] {
    file.Number(Field::kStageDone, 2);
    file.Number(Field::kStageFreeze,
                static_cast<uint64_t>(format::FrozenBy::kPtrace));
    file.Number(Field::kStageElapsedNs, 1800000);
  });
  file.BeginSection();
  PutNames(&file);
  return file.Finish();
}

}  // namespace cairn::samples
