// SPDX-License-Identifier: Apache-2.0
//
// A directory of hand-made reports and slots for the tests of this folder.
#ifndef CAIRN_UPLOAD_TESTING_REPORT_DIRECTORY_H_
#define CAIRN_UPLOAD_TESTING_REPORT_DIRECTORY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "format/report_format.h"

namespace cairn::upload {

// A sealed report. The seed makes its uuid.
std::vector<uint8_t> ReportBytes(uint8_t seed);
std::string UuidOf(uint8_t seed);

class ReportDirectory {
 public:
  ReportDirectory();
  ~ReportDirectory();
  ReportDirectory(const ReportDirectory&) = delete;
  ReportDirectory& operator=(const ReportDirectory&) = delete;

  const std::string& path() const { return path_; }
  void Write(const std::string& name, const std::vector<uint8_t>& bytes) const;
  // SEED.cairn, `age_s` old. Returns its bytes.
  std::vector<uint8_t> AddReport(uint8_t seed, int age_s) const;
  // NAME.slot: a report, or an unused slot's header, changed by `edit`, with
  // 4,096 unused bytes behind.
  std::vector<uint8_t> AddSlot(
      const std::string& name,
      uint8_t seed,
      const std::function<void(format::FileHeader*)>& edit) const;
  std::vector<uint8_t> Read(const std::string& name) const;
  bool Has(const std::string& name) const;
  // Names of the regular files below `folder`, sorted; hidden ones left out.
  std::vector<std::string> Names(const std::string& folder = "") const;

 private:
  std::string path_;
};

// Runs `body` in a child process, which ends with its result as status.
int StartChild(const std::function<int()>& body);
// Ends the child with SIGKILL and waits for it.
void KillChild(int pid);
// Waits for it to end by itself; its exit status, or -1.
int JoinChild(int pid);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_TESTING_REPORT_DIRECTORY_H_
