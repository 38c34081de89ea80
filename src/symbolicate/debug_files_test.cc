// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/debug_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "symbolicate/testdata/tools.h"

namespace cairn::symbolicate {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const ElfFile> Load(const std::string& path) {
  OpenError error{};
  std::string message;
  auto source = OpenFileSource(path, &error, &message);
  return source ? ElfFile::Parse(source, &message) : nullptr;
}

TEST(DebugFiles, CrcOfTheCheckString) {
  // The catalogue value of CRC-32/ISO-HDLC.
  const auto* text = reinterpret_cast<const uint8_t*>("123456789");
  EXPECT_EQ(DebugLinkCrc(0, text, 9), 0xcbf43926u);
}

TEST(DebugFiles, A7_26_ByLinkBesideTheFile) {
  const auto file = Load(Program("linked"));
  ASSERT_TRUE(file);
  const auto debug = FindDebugFileByLink(*file, Program("linked"), {});
  ASSERT_TRUE(debug);
  EXPECT_EQ(debug->build_id(), file->build_id());
}

TEST(DebugFiles, A7_26_ByLinkInDotDebugAndInGivenDirectory) {
  const ScratchDirectory scratch;
  fs::create_directories(scratch.path() + "/.debug");
  fs::create_directories(scratch.path() + "/given" + scratch.path());
  const std::string path = scratch.path() + "/linked";
  fs::copy(Program("linked"), path);
  const auto file = Load(path);
  EXPECT_FALSE(FindDebugFileByLink(*file, path, {}));
  Options options;
  options.debug_directories = {scratch.path() + "/given"};
  fs::copy(Program("linked.debug"),
           scratch.path() + "/given" + scratch.path() + "/linked.debug");
  EXPECT_TRUE(FindDebugFileByLink(*file, path, options));
  EXPECT_FALSE(FindDebugFileByLink(*file, path, {}));
  fs::copy(Program("linked.debug"), scratch.path() + "/.debug/linked.debug");
  EXPECT_TRUE(FindDebugFileByLink(*file, path, {}));
}

TEST(DebugFiles, ByLinkWithOtherBuildIdIsRefused) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/linked";
  fs::copy(Program("linked"), path);
  fs::copy(Program("other"), scratch.path() + "/linked.debug");
  EXPECT_FALSE(FindDebugFileByLink(*Load(path), path, {}));
}

TEST(DebugFiles, WithoutBuildIdTheCrcDecides) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path() + "/crc";
  fs::copy(Program("crc"), path);
  fs::copy(Program("crc.debug"), scratch.path() + "/crc.debug");
  EXPECT_TRUE(FindDebugFileByLink(*Load(path), path, {}));
  std::ofstream(scratch.path() + "/crc.debug", std::ios::app) << "x";
  EXPECT_FALSE(FindDebugFileByLink(*Load(path), path, {}));
}

TEST(DebugFiles, ByBuildIdNeverOneWithAnother) {
  const ScratchDirectory scratch;
  const auto id = BuildIdBytes(Program("pie"));
  const std::string hex = ReadelfBuildId(Program("pie"));
  const std::string folder = scratch.path() + "/" + hex.substr(0, 2);
  fs::create_directories(folder);
  Options options;
  options.debug_directories = {scratch.path()};
  EXPECT_FALSE(FindDebugFileById(id, options));
  const std::string path = folder + "/" + hex.substr(2) + ".debug";
  fs::copy(Program("linked.debug"), path);
  EXPECT_TRUE(FindDebugFileById(id, options));
  fs::remove(path);
  fs::copy(Program("other"), path);
  EXPECT_FALSE(FindDebugFileById(id, options));
}

}  // namespace
}  // namespace cairn::symbolicate
