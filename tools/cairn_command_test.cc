// SPDX-License-Identifier: Apache-2.0
//
// The `cairn` command as a process: what it prints, and its exit status.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "format/report_format.h"
#include "samples/sample_file.h"
#include "samples/samples.h"
#include "upload/process_state.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status = -1;
  std::string output;  // both streams
};

// Runs a line of shell; standard input is not a terminal.
Outcome Shell(const std::string& line) {
  Outcome outcome;
  FILE* pipe = popen(("{ " + line + "; } 2>&1 </dev/null").c_str(), "r");
  char part[4096];
  for (size_t got = 0; (got = fread(part, 1, sizeof(part), pipe)) > 0;) {
    outcome.output.append(part, got);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

Outcome Cairn(const std::string& arguments) {
  return Shell(CAIRN_COMMAND " " + arguments);
}

// The same on a pseudo-terminal made by script(1).
Outcome CairnOnTerminal(const std::string& arguments,
                        const std::string& environment = "",
                        const std::string& typed = "") {
  return Shell("echo '" + typed + "' | script -qec '" + environment +
               " TERM=xterm " CAIRN_COMMAND " " + arguments + "' /dev/null");
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A report of a crash at the given second, and nothing else.
std::vector<uint8_t> At(uint64_t seconds, format::SlotState state) {
  samples::SampleFile file(2);
  file.header().state = static_cast<uint32_t>(state);
  file.Group(format::Field::kEvent, [&] {
    file.Number(format::Field::kEventTimeNs, seconds * 1000000000);
  });
  return file.Finish();
}

class Command : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cairn_command_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string Put(const std::string& name, const std::vector<uint8_t>& bytes) {
    const std::string path = directory_ + "/" + name;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  // The sample as a slot of this process, which lives, in the given state, with
  // an unused rest.
  static std::vector<uint8_t> Slot(format::SlotState state) {
    std::vector<uint8_t> bytes = samples::Simple();
    format::FileHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    header.state = static_cast<uint32_t>(state);
    header.installer = header.owner = upload::OwnIdentity();
    header.claim = state < format::SlotState::kClaimed
                       ? 0
                       : header.owner.pid | header.owner.start_ticks << 32;
    std::memcpy(bytes.data(), &header, sizeof(header));
    bytes.resize(bytes.size() + 4096);
    return bytes;
  }

  std::string directory_;
};

TEST_F(Command, ShowOfAWholeReportIs0) {
  const Outcome text = Cairn("show " + Put("a.cairn", samples::Simple()));
  EXPECT_EQ(text.status, 0) << text.output;
  EXPECT_EQ(text.output.rfind("SIGSEGV (SEGV_MAPERR) at 0x0\n", 0), 0u);
  EXPECT_TRUE(Has(text.output, "crash_here(int*) + 16"));
  EXPECT_FALSE(Has(text.output, "\x1b"));
}

TEST_F(Command, ShowOfACutReportIs1AndSaysSo) {
  std::vector<uint8_t> bytes = samples::Simple();
  bytes.resize(1200);
  const std::string path = Put("a.cairn", bytes);
  const Outcome text = Cairn("show " + path);
  EXPECT_EQ(text.status, 1);
  EXPECT_TRUE(Has(text.output, "This report is not whole"));
  const Outcome json = Cairn("show --json " + path);
  EXPECT_EQ(json.status, 1);
  EXPECT_TRUE(Has(json.output, "\"complete\": false"));
}

TEST_F(Command, ShowOfWhatCannotBeReadIs2) {
  const std::vector<uint8_t> text = {'h', 'e', 'l', 'l', 'o'};
  EXPECT_EQ(Cairn("show " + Put("a.cairn", text)).status, 2);
  EXPECT_EQ(Cairn("show " + Put("empty.cairn", {})).status, 2);
  EXPECT_EQ(Cairn("show " + directory_ + "/missing.cairn").status, 2);
  const Outcome slot =
      Cairn("show " + Put("b.slot", Slot(format::SlotState::kArmed)));
  EXPECT_EQ(slot.status, 2);
  EXPECT_TRUE(Has(slot.output, "no crash has used it")) << slot.output;
}

TEST_F(Command, ShowOfATooNewReportIs2AndTellsTheRemedy) {
  samples::SampleFile file(1);
  file.header().least_reader_version = format::kFormatVersion + 1;
  const Outcome outcome = Cairn("show " + Put("a.cairn", file.Finish()));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(Has(outcome.output, "update cairn")) << outcome.output;
}

TEST_F(Command, WrongUsageIs2) {
  EXPECT_EQ(Cairn("").status, 2);
  EXPECT_EQ(Cairn("show").status, 2);
  EXPECT_EQ(Cairn("show --colour .").status, 2);
  EXPECT_EQ(Cairn("show --color blue .").status, 2);
  EXPECT_EQ(Cairn("no-such-command").status, 2);
  EXPECT_EQ(Cairn("list").status, 2);
}

TEST_F(Command, HelpAndVersionAre0) {
  EXPECT_EQ(Cairn("--help").status, 0);
  EXPECT_EQ(Cairn("show --help").status, 0);
  EXPECT_EQ(Cairn("--version").output, "cairn 0.1.0\n");
}

TEST_F(Command, FullOutputIsNoSuccess) {
  const std::string path = Put("a.cairn", samples::Simple());
  EXPECT_EQ(Cairn("show " + path + " >/dev/full").status, 2);
}

TEST_F(Command, ColourIsAlwaysNeverOrTheTerminals) {
  const std::string path = Put("a.cairn", samples::Simple());
  EXPECT_TRUE(Has(Cairn("show --color always " + path).output, "\x1b["));
  EXPECT_FALSE(Has(Cairn("show --color never " + path).output, "\x1b["));
  EXPECT_TRUE(Has(CairnOnTerminal("show " + path).output, "\x1b[1;31mSIGSEGV"));
  EXPECT_FALSE(
      Has(CairnOnTerminal("show " + path, "NO_COLOR=1").output, "\x1b["));
}

TEST_F(Command, ShowOfADirectoryIsItsNewestReport) {
  Put("a.cairn", samples::Rich());
  Put("ignored.txt", samples::Simple());
  Put("old.cairn", At(1000, format::SlotState::kSealed));
  EXPECT_TRUE(Has(Cairn("show " + directory_).output, "DecodeError"));
  EXPECT_EQ(Cairn("show " + directory_ + "/nothing").status, 2);
}

TEST_F(Command, ShowOfAnEmptyDirectoryIs2) {
  const Outcome outcome = Cairn("show " + directory_);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(Has(outcome.output, "no report in this directory"));
}

TEST_F(Command, RawShowsNoNames) {
  const std::string path = Put("a.cairn", samples::Simple());
  EXPECT_FALSE(Has(Cairn("show --raw " + path).output, "crash_here"));
  EXPECT_FALSE(Has(Cairn("show --raw --json " + path).output, "crash_here"));
}

TEST_F(Command, ListHasFinishedReportsNewestFirst) {
  using format::SlotState;
  // Its writer is dead: it is finished, and gets a report's name.
  Put("b.slot", At(3000, SlotState::kSealed));
  const std::string dead = directory_ + "/b.cairn";
  const std::string old = Put("c.cairn", At(1000, SlotState::kSealed));
  const std::string cut = Put("d.cairn", At(2000, SlotState::kClaimed));
  Put("armed.slot", Slot(SlotState::kArmed));
  Put("claimed.slot", Slot(SlotState::kClaimed));
  Put("other.txt", samples::Simple());
  fs::create_symlink(old, directory_ + "/link.cairn");
  const Outcome outcome = Cairn("list " + directory_);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, dead + "\n" + cut + "\n" + old + "\n");
}

TEST_F(Command, ListHasReportsThatCannotBeRead) {
  const std::string path = Put("a.cairn", {1, 2, 3});
  EXPECT_EQ(Cairn("list " + directory_).output, path + "\n");
}

TEST_F(Command, ListOfAMissingDirectoryIs2) {
  EXPECT_EQ(Cairn("list " + directory_ + "/missing").status, 2);
  const Outcome empty = Cairn("list " + directory_);
  EXPECT_EQ(empty.status, 0);
  EXPECT_EQ(empty.output, "");
}

TEST_F(Command, PurgeAsksNobodyWithoutATerminal) {
  const std::string path = Put("a.cairn", samples::Simple());
  const Outcome refused = Cairn("purge " + directory_);
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(Has(refused.output, "--yes"));
  EXPECT_TRUE(fs::exists(path));
  EXPECT_EQ(Cairn("purge --yes " + directory_).status, 0);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(Cairn("purge " + directory_).status, 0) << "nothing to ask about";
}

TEST_F(Command, PurgeLeavesUnfinishedSlotsAndForeignFiles) {
  const std::string armed = Put("armed.slot", Slot(format::SlotState::kArmed));
  const std::string foreign = Put("stones.cairn", {'h', 'i'});
  Put("a.cairn", samples::Simple());
  Put("b.slot", At(3000, format::SlotState::kSealed));
  const Outcome outcome = Cairn("purge --yes " + directory_);
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  EXPECT_TRUE(Has(outcome.output, "2 removed"));
  EXPECT_TRUE(fs::exists(armed));
  EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(Command, PurgeAsksOnATerminal) {
  const std::string path = Put("a.cairn", samples::Simple());
  const std::string purge = "purge " + directory_;
  EXPECT_TRUE(Has(CairnOnTerminal(purge, "", "n").output, "Remove 1 report"));
  EXPECT_TRUE(fs::exists(path));
  CairnOnTerminal(purge, "", "y");
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace cairn
