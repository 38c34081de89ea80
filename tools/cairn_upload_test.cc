// SPDX-License-Identifier: Apache-2.0
//
// `cairn upload` as a process, against a server.
#include <gtest/gtest.h>

#include <cstdlib>

#include "upload/testing/report_directory.h"
#include "upload/testing/test_server.h"

namespace cairn {
namespace {

using upload::ReportDirectory;
using upload::TestServer;

int Upload(const std::string& environment, const std::string& arguments) {
  const int status = std::system((environment + " " CAIRN_COMMAND " upload " +
                                  arguments + " >/dev/null 2>&1")
                                     .c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(UploadCommand, SendsAllAndExitsWith0) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  directory.AddReport(2, 9);
  TestServer server;
  EXPECT_EQ(Upload("", "--url " + server.url() + " --json " + directory.path()),
            0);
  EXPECT_EQ(server.kept().size(), 2u);
  EXPECT_EQ(directory.Names("sent").size(), 2u);
}

TEST(UploadCommand, TakesAddressAndTokenFromTheEnvironment) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  TestServer server;
  EXPECT_EQ(
      Upload("CAIRN_UPLOAD_URL=" + server.url() + " CAIRN_UPLOAD_TOKEN=abc",
             directory.path()),
      0);
  ASSERT_EQ(server.headers().size(), 1u);
  EXPECT_EQ(server.headers()[0].find("Authorization")->second, "Bearer abc");
}

TEST(UploadCommand, ExitsWith1WhenSomeAreLeftAnd2ForWrongUsage) {
  const ReportDirectory directory;
  directory.AddReport(1, 0);
  TestServer server(
      [](int, const httplib::Request&, httplib::Response* response) {
        response->status = 401;
        return true;
      });
  EXPECT_EQ(Upload("", "--url " + server.url() + " " + directory.path()), 1);
  EXPECT_EQ(Upload("", directory.path()), 2) << "no address";
  EXPECT_EQ(Upload("", "--url " + server.url() + " /nonexistent"), 2);
  EXPECT_EQ(Upload("", ""), 2);
}

}  // namespace
}  // namespace cairn
