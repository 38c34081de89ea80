// SPDX-License-Identifier: Apache-2.0
#include "upload/testing/report_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "report/report.h"
#include "samples/sample_file.h"

namespace cairn::upload {
namespace {

namespace fs = std::filesystem;
using format::Field;

constexpr size_t kUnusedBytes = 4096;

}  // namespace

std::vector<uint8_t> ReportBytes(uint8_t seed) {
  samples::SampleFile file(seed);
  file.Group(Field::kApp, [&] { file.Text(Field::kAppId, "org.example.app"); });
  file.Group(Field::kEvent, [&] {
    file.Number(Field::kEventKind, 1);
    file.Group(Field::kSignal, [&] { file.Number(Field::kSignalNumber, 11); });
  });
  return file.Finish();
}

std::string UuidOf(uint8_t seed) {
  const auto bytes = ReportBytes(seed);
  report::Uuid uuid{};
  std::memcpy(uuid.data(),
              bytes.data() + offsetof(format::FileHeader, report_uuid),
              uuid.size());
  return report::UuidText(uuid);
}

ReportDirectory::ReportDirectory() {
  std::string pattern = (fs::temp_directory_path() / "cairn-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

ReportDirectory::~ReportDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void ReportDirectory::Write(const std::string& name,
                            const std::vector<uint8_t>& bytes) const {
  std::ofstream(path_ + "/" + name, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::vector<uint8_t> ReportDirectory::AddReport(uint8_t seed, int age_s) const {
  const std::string name = std::to_string(seed) + ".cairn";
  auto bytes = ReportBytes(seed);
  Write(name, bytes);
  const timespec when{std::time(nullptr) - age_s, 0};
  const timespec times[2] = {when, when};
  EXPECT_EQ(utimensat(AT_FDCWD, (path_ + "/" + name).c_str(), times, 0), 0);
  return bytes;
}

std::vector<uint8_t> ReportDirectory::AddSlot(
    const std::string& name,
    uint8_t seed,
    const std::function<void(format::FileHeader*)>& edit) const {
  auto bytes = ReportBytes(seed);
  format::FileHeader header{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  edit(&header);
  std::memcpy(bytes.data(), &header, sizeof(header));
  auto slot = bytes;
  slot.resize(bytes.size() + kUnusedBytes);
  Write(name + ".slot", slot);
  return bytes;
}

std::vector<uint8_t> ReportDirectory::Read(const std::string& name) const {
  std::ifstream in(path_ + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool ReportDirectory::Has(const std::string& name) const {
  return fs::exists(path_ + "/" + name);
}

std::vector<std::string> ReportDirectory::Names(
    const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator(fs::path(path_) / folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name[0] != '.') {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

int StartChild(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(body());
  }
  return pid;
}

void KillChild(int pid) {
  kill(pid, SIGKILL);
  JoinChild(pid);
}

int JoinChild(int pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace cairn::upload
