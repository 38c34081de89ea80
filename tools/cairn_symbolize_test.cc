// SPDX-License-Identifier: Apache-2.0
//
// `cairn symbolize` beside addr2line, on a program with every kind of function.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace cairn {
namespace {

const std::string kProgram =
    std::string(CAIRN_BINARY_DIR) + "/src/symbolicate/testdata/pie";

std::string Shell(const std::string& line, int* status) {
  std::string output;
  FILE* pipe = popen(line.c_str(), "r");
  char part[4096];
  for (size_t got = 0; (got = fread(part, 1, sizeof(part), pipe)) > 0;) {
    output.append(part, got);
  }
  const int ended = pclose(pipe);
  *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  return output;
}

std::vector<std::string> EvenLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string name, place;
       std::getline(in, name) && std::getline(in, place);) {
    lines.push_back(name);
  }
  return lines;
}

// Addresses of functions with a size and one name only, by nm.
std::string Addresses() {
  int status = 0;
  return Shell("nm -S " + kProgram +
                   " | awk 'NF == 4 && $3 ~ /[TtWi]/ {print $1}' | "
                   "sort | uniq -u",
               &status);
}

TEST(Symbolize, NamesAsAddr2linePrintsThem) {
  std::string list = Addresses();
  for (char& c : list) {
    c = c == '\n' ? ' ' : c;
  }
  int status = 0;
  const auto ours = EvenLines(Shell(
      CAIRN_COMMAND " symbolize --obj " + kProgram + " " + list, &status));
  EXPECT_EQ(status, 0);
  const auto theirs =
      EvenLines(Shell("addr2line -f -C -e " + kProgram + " " + list, &status));
  ASSERT_EQ(ours.size(), theirs.size());
  ASSERT_GT(ours.size(), 8u);
  for (size_t i = 0; i < ours.size(); ++i) {
    // DWARF has no parameters in a function's name.
    EXPECT_EQ(ours[i].rfind(theirs[i].substr(0, theirs[i].find('(')), 0), 0u)
        << ours[i] << " for " << theirs[i];
  }
}

TEST(Symbolize, JsonIsOneObjectALineAlsoFromStandardInput) {
  int status = 0;
  const std::string output =
      Shell("printf '0x0\\n0\\n' | " CAIRN_COMMAND " symbolize --json --obj " +
                kProgram,
            &status);
  EXPECT_EQ(status, 0);
  const std::string line =
      "{\"address\":\"0x0\",\"module\":\"pie\",\"frames\":[]}\n";
  EXPECT_EQ(output, line + line);
  const std::string main_address =
      Shell("nm " + kProgram + " | awk '$3 == \"main\" {print $1}'", &status);
  EXPECT_NE(Shell(CAIRN_COMMAND " symbolize --json --obj " + kProgram + " " +
                      main_address,
                  &status)
                .find("\"function\":\"main\",\"file\":\"" +
                      std::string(CAIRN_SOURCE_DIR) +
                      "/src/symbolicate/testdata/functions.cc\",\"line\":"),
            std::string::npos);
}

TEST(Symbolize, WrongUsageAndUnreadableFilesExitWith2) {
  int status = 0;
  for (const std::string& arguments :
       {std::string("12"),
        "--obj " + kProgram + " xyz 2>&1",
        "--obj " + kProgram + " 0x123456789abcdef01 2>&1",
        std::string("--obj /nonexistent 12 2>&1"),
        std::string("--obj /etc/passwd 12 2>&1")}) {
    Shell(CAIRN_COMMAND " symbolize " + arguments + " 2>/dev/null", &status);
    EXPECT_EQ(status, 2) << arguments;
  }
}

}  // namespace
}  // namespace cairn
