// SPDX-License-Identifier: Apache-2.0
#include "upload/next_launch.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <mutex>

#include "report/reader.h"
#include "samples/sample_file.h"
#include "upload/testing/report_directory.h"
#include "upload/testing/test_server.h"

namespace cairn::upload {
namespace {

using format::Field;
using format::FrameKind;
using format::FrameTrust;
using samples::SampleFile;

// A crash in `qsort` of this machine's libc.
std::vector<uint8_t> CrashInLibc(uint8_t seed) {
  Dl_info info{};
  // libc's own, also where a sanitizer puts another one before it.
  void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  dladdr(dlsym(libc, "qsort"), &info);
  const auto base = reinterpret_cast<uint64_t>(info.dli_fbase);
  const uint64_t offset = reinterpret_cast<uint64_t>(info.dli_saddr) - base;
  SampleFile file(seed);
  file.Group(Field::kImage, [&] {
    file.Address(Field::kImageAddress, base);
    file.Number(Field::kImageBytes, 0x200000);
    file.Text(Field::kImagePath,
              std::filesystem::canonical(info.dli_fname).string());
    file.Signed(Field::kImageLinkBias, static_cast<int64_t>(base));
  });
  file.Group(Field::kThread, [&] {
    file.Number(Field::kThreadId, 1);
    file.Number(Field::kThreadCrashed, 1);
    file.Pack(Field::kThreadFrames,
              samples::Stack(
                  0, {{0, offset, FrameTrust::kContext, FrameKind::kFault}}));
  });
  return file.Finish();
}

std::string FirstName(const std::vector<uint8_t>& bytes) {
  const auto read = report::ReadReport(bytes.data(), bytes.size());
  const auto& threads = read.report.threads;
  if (threads.empty() || threads[0].frames.empty() ||
      threads[0].frames[0].symbols.empty()) {
    return "";
  }
  return threads[0].frames[0].symbols[0].function;
}

TEST(NextLaunch, A7_16_NamesAreAppendedOnceAndCrashBytesStay) {
  const ReportDirectory directory;
  const auto crash = CrashInLibc(3);
  directory.Write("a.cairn", crash);
  NextLaunchOptions options;
  options.upload.directory = directory.path();
  struct stat before{}, after{};
  const std::string path = directory.path() + "/a.cairn";
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  EXPECT_EQ(ProcessFinishedReports(options).named, 1u);
  ASSERT_EQ(stat(path.c_str(), &after), 0);
  const auto named = directory.Read("a.cairn");
  EXPECT_EQ(FirstName(named), "qsort");
  ASSERT_GT(named.size(), crash.size());
  EXPECT_EQ(std::memcmp(named.data(), crash.data(), crash.size()), 0);
  EXPECT_EQ(before.st_mtime, after.st_mtime) << "the date is the crash's";
  EXPECT_EQ(ProcessFinishedReports(options).named, 0u);
  EXPECT_EQ(directory.Read("a.cairn"), named);
}

TEST(NextLaunch, NamesThenSendsExactlyOneReport) {
  const ReportDirectory directory;
  directory.Write("a.cairn", CrashInLibc(3));
  TestServer server(
      [](int number, const httplib::Request&, httplib::Response* response) {
        response->status = 503;
        return number == 0;
      });
  NextLaunchOptions options;
  options.upload.directory = directory.path();
  options.upload.url = server.url();
  options.upload.first_delay_ms = 1;
  for (int launch = 0; launch < 2; ++launch) {
    ProcessFinishedReports(options);
  }
  EXPECT_EQ(server.requests(), 2);
  ASSERT_EQ(server.kept().size(), 1u);
  EXPECT_EQ(FirstName(server.kept().begin()->second), "qsort");
}

// The newest report is out before the older ones are even looked at.
TEST(NextLaunch, A8_1_NewestIsSentBeforeTheNextIsNamed) {
  const ReportDirectory directory;
  directory.AddReport(1, 100);
  directory.AddReport(2, 0);
  std::mutex mutex;
  std::vector<std::string> order;
  TestServer server(
      [&](int, const httplib::Request& request, httplib::Response*) {
        const std::lock_guard lock(mutex);
        order.push_back(request.matches[1]);
        return false;
      });
  NextLaunchOptions options;
  options.upload.directory = directory.path();
  options.upload.url = server.url();
  ProcessFinishedReports(options);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(order, (std::vector<std::string>{UuidOf(2), UuidOf(1)}));
}

TEST(NextLaunch, BadReportsAreNamedAsProblemsAndHarmNothing) {
  const ReportDirectory directory;
  directory.Write("garbage.cairn", std::vector<uint8_t>(10000, 0xee));
  directory.Write("empty.cairn", {});
  auto cut = CrashInLibc(4);
  cut.resize(cut.size() * 2 / 3);
  directory.Write("cut.cairn", cut);
  directory.Write("good.cairn", CrashInLibc(5));
  NextLaunchOptions options;
  options.upload.directory = directory.path();
  const auto result = ProcessFinishedReports(options);
  EXPECT_GE(result.problems.size(), 2u);
  EXPECT_EQ(FirstName(directory.Read("good.cairn")), "qsort");
  options.upload.directory = "/nonexistent";
  EXPECT_EQ(ProcessFinishedReports(options).problems.size(), 1u);
}

TEST(NextLaunch, A8_19_WithoutAnAddressNothingIsSent) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  NextLaunchOptions options;
  options.upload.directory = directory.path();
  EXPECT_TRUE(ProcessFinishedReports(options).sent.empty());
  EXPECT_TRUE(directory.Has("1.cairn"));
}

}  // namespace
}  // namespace cairn::upload
