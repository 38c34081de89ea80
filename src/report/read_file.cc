// SPDX-License-Identifier: Apache-2.0
#include "report/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "report/reader.h"

namespace cairn::report {

int OpenRegular(const std::string& path, bool write) {
  const int access = write ? O_RDWR : O_RDONLY;
  return open(path.c_str(), access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

std::string DescribeErrno(const std::string& path, int error) {
  if (error == ELOOP) {
    return path + ": is a symbolic link; name the file itself";
  }
  return path + ": " + std::generic_category().message(error);
}

std::string ReadAll(int descriptor, uint64_t limit, std::vector<uint8_t>* out) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) {
    return std::generic_category().message(errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return "not a regular file";
  }
  if (static_cast<uint64_t>(info.st_size) > limit) {
    return "larger than a report may be (" + std::to_string(limit) + " bytes)";
  }
  out->resize(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < out->size()) {
    const ssize_t got = pread(descriptor,
                              out->data() + done,
                              out->size() - done,
                              static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return std::generic_category().message(errno);
    }
    if (got == 0) {
      break;  // it became shorter meanwhile
    }
    done += static_cast<size_t>(got);
  }
  out->resize(done);
  return "";
}

ReadResult ReadReportFile(const std::string& path) {
  ReadResult result;
  result.status = ReadStatus::kCannotOpen;
  const int descriptor = OpenRegular(path, false);
  if (descriptor < 0) {
    result.error = DescribeErrno(path, errno);
    return result;
  }
  std::vector<uint8_t> bytes;
  const std::string error = ReadAll(descriptor, kMaxReportBytes, &bytes);
  close(descriptor);
  if (!error.empty()) {
    result.error = path + ": " + error;
    return result;
  }
  result = ReadReport(bytes.data(), bytes.size());
  if (!result.error.empty()) {
    result.error = path + ": " + result.error;
  }
  return result;
}

}  // namespace cairn::report
